// These functions make memory for tests of kernels: numbers whose sums are exact, and bytes on
// which no kernel may rely.
#pragma once

#include <cstdint>
#include <vector>

namespace penstock::testing {

/// Returns `count` whole numbers from -4 to 4. Sums of their products are exact in any order.
std::vector<float> whole_numbers(std::int64_t count, unsigned seed);
/// Returns `count` floats in which every byte is `poison`; 0xff makes NaNs.
std::vector<float> poisoned(std::int64_t count, unsigned char poison);

}  // namespace penstock::testing
