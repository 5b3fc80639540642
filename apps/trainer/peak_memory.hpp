// peak_resident_bytes() returns the peak memory of this process, as the operating system counts it.
#pragma once

#include <cstdint>

namespace trainer {

/// Returns the largest resident set since the program started, in bytes, or 0 if the system does
/// not say how large it was.
std::int64_t peak_resident_bytes();

}  // namespace trainer
