// The functions of this header count what the program asks of malloc() and its relatives, also in C
// libraries. They replace malloc() in a test program that uses them, unless a sanitizer has
// replaced it already.
#pragma once

#include <cstdint>

namespace penstock::testing {

/// Returns whether malloc() is counted: not under a sanitizer, nor where the C library is not
/// GNU's.
bool counts_malloc() noexcept;

/// Returns how many bytes the calling thread has asked of malloc(), calloc() and realloc() so far,
/// and so of `operator new` as well. Memory that was aligned on purpose does not count. The number
/// stays 0 where malloc() is not counted.
std::uint64_t malloc_bytes() noexcept;

}  // namespace penstock::testing
