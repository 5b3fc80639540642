#include "apps/trainer/options/value_kind.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "apps/trainer/options/excerpt.hpp"
#include "penstock/error.hpp"

namespace trainer {
namespace {

constexpr std::size_t longest_value = 100;  // Counts the bytes of a value in a message.

[[noreturn]] void refuse(const std::string& expected, std::string_view got) {
  throw penstock::Error(penstock::Errc::invalid_argument,
                        "expected " + expected + ", got \"" + excerpt(got, longest_value) + '"');
}

/// Returns whether `text` is one number of type T and nothing else, and sets `value` to the number.
template <class T>
bool reads_as(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

std::string shortest(double value) {
  char text[32];
  return {text, std::to_chars(std::begin(text), std::end(text), value).ptr};
}

std::string describe(const NumberRange& range) {
  if (range.least == smallest_positive)
    return "a number above 0, from 1.2e-38 to 3.4e38 (f32's smallest and largest)";
  const std::string text = "a number from " + shortest(range.least);
  if (range.most == NumberRange{}.most) return text + " to 3.4e38 (f32's largest)";
  return text + (range.open_most ? " and below " : " to ") + shortest(range.most);
}

bool contains(const NumberRange& range, double value) {
  if (!std::isfinite(value) || value < range.least || value > range.most) return false;
  return !range.open_most || static_cast<float>(value) < range.most;
}

std::string joined(const std::vector<std::string>& words, const std::string& separator = ", ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

/// Reads whole numbers from 0 to `most` that are separated by commas. `or_word` says what else the
/// text may be, as in "all, or "; a refusal puts it in front of the expected numbers.
std::vector<int> read_number_list(std::string_view text, int most,
                                  const std::string& or_word = "") {
  std::vector<int> numbers;
  std::size_t begin = 0, comma = 0;
  do {
    comma = text.find(',', begin);
    int number = -1;
    if (!reads_as(text.substr(begin, comma - begin), number) || number < 0 || number > most)
      refuse(or_word + "whole numbers from 0 to " + std::to_string(most) + ", separated by commas",
             text);
    numbers.push_back(number);
    begin = comma + 1;
  } while (comma != text.npos);
  return numbers;
}

std::string show_number_list(const std::vector<int>& numbers) {
  std::vector<std::string> words;
  for (const int number : numbers) words.push_back(std::to_string(number));
  return joined(words, ",");
}

constexpr std::string_view all_stages = "all";

constexpr std::pair<std::string_view, double> byte_units[] = {
    {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"kB", 1e3}, {"MB", 1e6},
    {"GB", 1e9},     {"B", 1.0}};

std::int64_t read_byte_size(std::string_view text) {
  const NumberRange range{.least = 1, .most = 1e18};
  for (const auto& [unit, bytes] : byte_units) {
    if (!text.ends_with(unit)) continue;
    double number = 0;
    if (reads_as(text.substr(0, text.size() - unit.size()), number) &&
        contains(range, number * bytes))
      return static_cast<std::int64_t>(number * bytes);
    break;
  }
  refuse("a size such as 900MB, 1.5GB or 64KiB", text);
}

constexpr std::string_view automatic = "auto";

StagesOption read_stages(std::string_view text, int most) {
  if (text == automatic) return {};
  const std::string prefix = std::string(automatic) + ':';
  if (!text.starts_with(prefix)) return {.stages = penstock::parse_stages(text)};
  int count = 0;
  if (!reads_as(text.substr(prefix.size()), count) || count < 1 || count > most)
    refuse("auto:N with a whole number from 1 to " + std::to_string(most), text);
  return {.automatic = count};
}

std::string show_stages(const std::vector<penstock::Stage>& list) {
  std::vector<std::string> stages;
  for (const penstock::Stage& stage : list) stages.push_back(joined(stage.blocks, ","));
  return joined(stages, "|");
}

std::string show_phases(const std::vector<penstock::Phase>& list) {
  std::vector<std::string> phases;
  for (const penstock::Phase& phase : list) phases.push_back(show_stages(phase.stages));
  return joined(phases, ";");
}

std::string show_stages_option(const StagesOption& option) {
  if (option.automatic) return std::string(automatic) + ':' + std::to_string(*option.automatic);
  if (option.stages.empty()) return std::string(automatic);
  return show_stages(option.stages);
}

}  // namespace

bool read_switch(std::string_view text) {
  if (!text.empty() && text != "true" && text != "false") refuse("true or false", text);
  return text != "false";
}

template <class T>
ValueKind<T> whole_number(T least, T most) {
  const auto read = [=](std::string_view text) {
    T value{};
    if (!reads_as(text, value) || value < least || value > most)
      refuse("a whole number from " + std::to_string(least) + " to " + std::to_string(most), text);
    return value;
  };
  return {.value_name = "N",
          .read = read,
          .show = [](const T& value) { return std::to_string(value); },
          .is_number = true};
}

template ValueKind<int> whole_number(int, int);
template ValueKind<std::int64_t> whole_number(std::int64_t, std::int64_t);
template ValueKind<std::uint64_t> whole_number(std::uint64_t, std::uint64_t);

ValueKind<double> number(const NumberRange& range) {
  const auto read = [range](std::string_view text) {
    double value = 0;
    if (!reads_as(text, value) || !contains(range, value)) refuse(describe(range), text);
    return value;
  };
  return {.value_name = "X", .read = read, .show = shortest, .is_number = true};
}

ValueKind<std::string> path(const std::string& value_name) {
  const auto read = [value_name](std::string_view text) {
    if (text.empty()) refuse(value_name == "DIR" ? "a directory" : "a file's name", text);
    return std::string(text);
  };
  return {value_name, read, [](const std::string& value) { return value; }};
}

ValueKind<std::string> one_of(const std::vector<std::string>& values) {
  const auto read = [values](std::string_view text) {
    if (std::find(values.begin(), values.end(), text) == values.end())
      refuse("one of " + joined(values), text);
    return std::string(text);
  };
  return {"NAME", read, [](const std::string& value) { return value; }, joined(values)};
}

ValueKind<std::vector<int>> number_list(const std::string& value_name, int most) {
  return {value_name, [=](std::string_view text) { return read_number_list(text, most); },
          show_number_list};
}

ValueKind<std::vector<int>> stage_numbers(const std::string& value_name, int most) {
  const auto read = [=](std::string_view text) {
    return text == all_stages ? std::vector<int>{}
                              : read_number_list(text, most, std::string(all_stages) + ", or ");
  };
  const auto show = [](const std::vector<int>& numbers) {
    return numbers.empty() ? std::string(all_stages) : show_number_list(numbers);
  };
  return {value_name, read, show};
}

ValueKind<std::int64_t> byte_size(const std::string& value_name) {
  return {value_name, read_byte_size,
          [](const std::int64_t& bytes) { return std::to_string(bytes) + "B"; }};
}

ValueKind<StagesOption> stage_list(const std::string& value_name, int most) {
  return {value_name, [=](std::string_view text) { return read_stages(text, most); },
          show_stages_option};
}

ValueKind<std::vector<penstock::Phase>> phase_list(const std::string& value_name) {
  return {value_name, penstock::parse_phases, show_phases};
}

}  // namespace trainer
