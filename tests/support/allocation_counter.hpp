// Counts what the program takes from the heap. A test that asks has its `operator new` replaced.
#pragma once

#include <cstdint>

namespace penstock::testing {

/// Calls of `operator new` by the calling thread so far.
std::uint64_t heap_allocations() noexcept;

}  // namespace penstock::testing
