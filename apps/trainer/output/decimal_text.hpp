// Numbers in texts, written in the same way under every locale. Pure.
#pragma once

#include <string>

namespace trainer {

/// `number` with so many digits behind the decimal point: "0.50" for 0.5 and 2.
std::string decimal_text(double number, int digits);

}  // namespace trainer
