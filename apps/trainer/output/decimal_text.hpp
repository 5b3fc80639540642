// decimal_text() writes a number in the same way under every locale. The function is pure.
#pragma once

#include <string>

namespace trainer {

/// Returns `number` with `digits` digits behind the decimal point, such as "0.50" for the number
/// 0.5 and 2 digits.
std::string decimal_text(double number, int digits);

}  // namespace trainer
