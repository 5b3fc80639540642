// malloc_bytes() counts what the program asks of malloc() and its relatives, also in C libraries.
// It replaces malloc() in a test program that uses it; a sanitizer, which has replaced malloc()
// already, tells what is asked for.
#pragma once

#include <cstdint>

namespace penstock::testing {

/// Returns how many bytes the calling thread has asked of malloc(), calloc() and realloc() so far,
/// and so of `operator new` as well. Memory that was aligned on purpose counts under a sanitizer
/// only. The number stays 0 with another C library than GNU's.
std::uint64_t malloc_bytes() noexcept;

}  // namespace penstock::testing
