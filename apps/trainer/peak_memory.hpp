// Peak memory of this process, as the operating system counts it.
#pragma once

#include <cstdint>

namespace trainer {

/// Peak resident set since the program started, in bytes; 0 if the system does not tell.
std::int64_t peak_resident_bytes();

}  // namespace trainer
