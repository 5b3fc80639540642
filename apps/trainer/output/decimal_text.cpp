#include "apps/trainer/output/decimal_text.hpp"

#include <array>
#include <charconv>

namespace trainer {

std::string decimal_text(double number, int digits) {
  std::array<char, 400> text{};  // The largest double has 309 digits.
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number,
                                 std::chars_format::fixed, digits)
                       .ptr;
  return {text.data(), end};
}

}  // namespace trainer
