#include "engine/model/text_table.hpp"

#include <algorithm>

namespace penstock {

std::string text_table(const std::vector<TextRow>& rows) {
  std::size_t columns = 0;
  for (const TextRow& row : rows) columns = std::max(columns, row.size());
  std::vector<std::size_t> widths(columns);
  for (const TextRow& row : rows)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  std::string text;
  for (const TextRow& row : rows) {
    for (std::size_t column = 0; column + 1 < row.size(); ++column)
      text += row[column] + std::string(widths[column] + 2 - row[column].size(), ' ');
    text += row.back() + "\n";
  }
  return text;
}

}  // namespace penstock
