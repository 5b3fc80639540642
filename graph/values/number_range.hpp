// A NumberRange says which numbers an option may have. The functions of this header check numbers,
// and write ranges and numbers as texts, which are the same under every locale. All functions are
// pure.
#pragma once

#include <limits>
#include <string>
#include <string_view>

namespace penstock {

struct NumberRange {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;   ///< If `above_low` is true, `low` itself is out of range.
  bool below_high = false;  ///< If `below_high` is true, `high` itself is out of range.

  bool contains(double number) const noexcept;
};

inline constexpr NumberRange any_number{.low = -std::numeric_limits<double>::infinity()};

/// Returns a text such as "1 or more", "0 to 1024", "0 or more and below 1" or "a finite number".
std::string to_string(const NumberRange& range);

/// Returns the shortest text that reads back as `number`. Whole numbers from -2^53 to 2^53 have no
/// exponent.
std::string number_text(double number);

/// Returns `number` with `digits` digits behind the decimal point, such as "0.50" for the number
/// 0.5 and 2 digits.
std::string decimal_text(double number, int digits);

/// Returns `share`, which is 1 for the whole, as a text such as "47 %".
std::string percent_text(double share, int digits = 0);

/// Checks that `number` is finite and in `range`. @throws Error invalid_argument, whose text begins
/// with `field`, such as "options.batch_size: expected 1 or more, got 0".
void check_number(std::string_view field, double number, const NumberRange& range);

/// Checks that `number`, which is used as an f32, is finite and in `range`, and that the number is
/// still so when it is rounded to f32. A denormal of f32 counts as 0 here, as it does in the
/// engine's work.
/// @throws Error invalid_argument as check_number() does.
void check_f32(std::string_view field, double number, const NumberRange& range);

}  // namespace penstock
