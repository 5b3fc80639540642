// hexadecimal() writes numbers in base 16 for names and messages. It is a pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace penstock {

/// Returns `number` in lower-case hexadecimal digits, padded with zeros in front to `digits`
/// digits.
std::string hexadecimal(std::uint64_t number, std::size_t digits);

}  // namespace penstock
