// These make memory for tests of kernels: numbers whose sums are exact, and bytes on which nobody
// may rely.
#pragma once

#include <cstdint>
#include <vector>

namespace penstock::testing {

/// Returns numbers drawn from -4, -3, ..., 4: sums of products of two come out exactly, in whatever
/// order.
std::vector<float> whole_numbers(std::int64_t count, unsigned seed);
/// Returns floats every byte of which is `poison`; 0xff makes NaNs.
std::vector<float> poisoned(std::int64_t count, unsigned char poison);

}  // namespace penstock::testing
