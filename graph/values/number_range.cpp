#include "graph/values/number_range.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "penstock/error.hpp"

namespace penstock {

bool NumberRange::contains(double number) const noexcept {
  const bool above = above_low ? number > low : number >= low;
  const bool below = below_high ? number < high : number <= high;
  return std::isfinite(number) && above && below;
}

std::string to_string(const NumberRange& range) {
  if (std::isinf(range.low) && std::isinf(range.high)) return "a finite number";
  const std::string low = number_text(range.low), high = number_text(range.high);
  const std::string from = range.above_low ? "more than " + low : low + " or more";
  if (std::isinf(range.high)) return from;
  if (range.below_high) return from + " and below " + high;
  return range.above_low ? from + " and at most " + high : low + " to " + high;
}

std::string number_text(double number) {
  constexpr double exact = 0x1p53;
  if (std::abs(number) <= exact && number == std::trunc(number))
    return std::to_string(static_cast<std::int64_t>(number));
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

std::string decimal_text(double number, int digits) {
  std::array<char, 400> text{};  // The largest double has 309 digits before the decimal point.
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number,
                                 std::chars_format::fixed, digits)
                       .ptr;
  return {text.data(), end};
}

std::string percent_text(double share, int digits) {
  return decimal_text(100 * share, digits) + " %";
}

void check_number(std::string_view field, double number, const NumberRange& range) {
  if (range.contains(number)) return;
  throw Error(Errc::invalid_argument, std::string(field) + ": expected " + to_string(range) +
                                          ", got " + number_text(number));
}

void check_f32(std::string_view field, double number, const NumberRange& range) {
  using Limits = std::numeric_limits<float>;
  check_number(field, number, range);
  NumberRange in_f32 = range;
  in_f32.low = std::max<double>(range.low, Limits::lowest());
  in_f32.high = std::min<double>(range.high, Limits::max());
  check_number(field, number, in_f32);
  const double rounded = std::abs(number) < Limits::min() ? 0 : static_cast<float>(number);
  if (range.contains(rounded)) return;
  throw Error(Errc::invalid_argument, std::string(field) + ": expected " + to_string(range) +
                                          ", got " + number_text(number) + ", which is " +
                                          number_text(rounded) + " in f32");
}

}  // namespace penstock
