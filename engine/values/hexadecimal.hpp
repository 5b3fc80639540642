// hexadecimal: numbers in base 16, as names and messages have them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace penstock {

/// `number` in lower-case hexadecimal digits, with zeros before it up to a length of `digits`.
std::string hexadecimal(std::uint64_t number, std::size_t digits);

}  // namespace penstock
