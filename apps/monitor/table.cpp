#include "apps/monitor/table.hpp"

#include <algorithm>
#include <numeric>

namespace monitor {
namespace {

constexpr std::size_t least_width = 8;

bool begins_a_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string shown = cut(text, width);
  const std::string space(width - std::min(width, characters_of(shown)), ' ');
  return align == Align::right ? space + shown : shown + space;
}

}  // namespace

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_a_character));
}

std::string cut(const std::string& text, std::size_t most) {
  if (characters_of(text) <= most) return text;
  if (most == 0) return "";
  std::size_t characters = 0, end = 0;
  while (end < text.size() && (characters += begins_a_character(text[end]) ? 1 : 0) < most) ++end;
  while (end < text.size() && !begins_a_character(text[end])) ++end;
  return text.substr(0, end) + "…";
}

std::vector<std::size_t> Table::widths(std::size_t width) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(characters_of(columns_[i].title));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], characters_of(row[i]));
  }
  const std::size_t frame = 3 * columns_.size() + 1;
  std::size_t all = std::accumulate(widths.begin(), widths.end(), frame);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (width == 0 || all <= width || !columns_[i].shrinks || widths[i] <= least_width) continue;
    const std::size_t less = std::min(all - width, widths[i] - least_width);
    widths[i] -= less;
    all -= less;
  }
  return widths;
}

std::vector<std::string> Table::lines(const std::string& heading, std::size_t width) const {
  const std::vector<std::size_t> widths = this->widths(width);
  const std::size_t inner = std::accumulate(widths.begin(), widths.end(), 3 * widths.size() - 1);
  std::string rule = "+";
  for (const std::size_t column : widths) rule += std::string(column + 2, '-') + '+';
  const auto line_of = [&](const auto& cell) {
    std::string line = "|";
    for (std::size_t i = 0; i < columns_.size(); ++i)
      line += ' ' + padded(cell(i), widths[i], columns_[i].align) + " |";
    return line;
  };
  std::vector<std::string> lines{'+' + std::string(inner, '-') + '+',
                                 "| " + padded(heading, inner - 2, Align::left) + " |", rule,
                                 line_of([&](std::size_t i) { return columns_[i].title; }), rule};
  for (const auto& row : rows_) lines.push_back(line_of([&](std::size_t i) { return row[i]; }));
  lines.push_back(rule);
  return lines;
}

}  // namespace monitor
