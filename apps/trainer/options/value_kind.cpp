#include "apps/trainer/options/value_kind.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "apps/trainer/options/read_value.hpp"
#include "apps/trainer/options/shortest_text.hpp"

namespace trainer {
namespace {

std::string describe(const NumberRange& range) {
  const bool above_zero = range.least == smallest_positive;
  const bool unlimited = range.most == NumberRange{}.most;
  if (above_zero && unlimited)
    return "a number above 0, from 1.2e-38 to 3.4e38 (f32's smallest and largest)";
  const std::string from =
      above_zero ? "a number above 0" : "a number from " + shortest_text(range.least);
  if (unlimited) return from + " to 3.4e38 (f32's largest)";
  return from + (range.open_most ? " and below " : " to ") + shortest_text(range.most);
}

bool contains(const NumberRange& range, double value) {
  if (!std::isfinite(value) || value < range.least || value > range.most) return false;
  return !range.open_most || static_cast<float>(value) < range.most;
}

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
  refuse_value("a size such as 900MB, 1.5GB or 64KiB", text);
}

/// Reads any text that is not empty; `expected` says in refusals what the text has to be.
ValueKind<std::string> not_empty(const std::string& value_name, const char* expected) {
  const auto read = [expected](std::string_view text) {
    if (text.empty()) refuse_value(expected, text);
    return std::string(text);
  };
  return {value_name, read, [](const std::string& value) { return value; }};
}

}  // namespace

bool read_switch(std::string_view text) {
  if (!text.empty() && text != "true" && text != "false") refuse_value("true or false", text);
  return text != "false";
}

template <class T>
ValueKind<T> whole_number(T least, T most) {
  const auto read = [=](std::string_view text) {
    T value{};
    if (!reads_as(text, value) || value < least || value > most)
      refuse_value("a whole number from " + std::to_string(least) + " to " + std::to_string(most),
                   text);
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
    if (!reads_as(text, value) || !contains(range, value)) refuse_value(describe(range), text);
    return value;
  };
  return {.value_name = "X", .read = read, .show = shortest_text, .is_number = true};
}

ValueKind<std::string> some_text(const std::string& value_name) {
  return not_empty(value_name, "at least one character");
}

ValueKind<std::string> path(const std::string& value_name) {
  return not_empty(value_name, value_name == "DIR" ? "a directory" : "a file's name");
}

ValueKind<std::string> one_of(const std::vector<std::string>& values) {
  const auto read = [values](std::string_view text) {
    if (std::find(values.begin(), values.end(), text) == values.end())
      refuse_value("one of " + joined(values), text);
    return std::string(text);
  };
  return {"NAME", read, [](const std::string& value) { return value; }, joined(values)};
}

ValueKind<std::int64_t> byte_size(const std::string& value_name) {
  return {value_name, read_byte_size,
          [](const std::int64_t& bytes) { return std::to_string(bytes) + "B"; }};
}

}  // namespace trainer
