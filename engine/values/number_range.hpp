// NumberRange: which numbers an option may be, checked and said in words. Numbers are written in
// the same way under every locale. Pure.
#pragma once

#include <limits>
#include <string>
#include <string_view>

namespace penstock {

struct NumberRange {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;   ///< `low` itself is outside
  bool below_high = false;  ///< `high` itself is outside

  bool contains(double number) const noexcept;
};

inline constexpr NumberRange any_number{.low = -std::numeric_limits<double>::infinity()};

/// "1 or more", "0 to 1024", "more than 0", "0 or more and below 1", "a finite number".
std::string to_string(const NumberRange& range);

/// The shortest text that reads back as the same number; whole numbers without an exponent.
std::string number_text(double number);

/// `number` with so many digits behind the decimal point: "0.50" for 0.5 and 2.
std::string decimal_text(double number, int digits);

/// @throws Error invalid_argument such as "options.batch_size: expected 1 or more, got 0" unless
/// `number` is finite and in `range`.
void check_number(std::string_view field, double number, const NumberRange& range);

/// The same for a number that is used as an f32: rounded, it must be finite and in `range` too.
/// The engine takes f32's denormals for 0.
void check_f32(std::string_view field, double number, const NumberRange& range);

}  // namespace penstock
