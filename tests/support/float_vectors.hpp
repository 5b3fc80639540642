// These functions make memory for tests of kernels: memory with numbers whose sums are exact, and
// memory on whose content no kernel may rely.
#pragma once

#include <cstdint>
#include <vector>

namespace penstock::testing {

/// Returns `count` whole numbers from -4 to 4. Sums of their products are exact in any order.
std::vector<float> whole_numbers(std::int64_t count, unsigned seed);
/// Returns `count` floats in which every byte is `poison`. If `poison` is 0xff, they are NaNs.
std::vector<float> poisoned(std::int64_t count, unsigned char poison);

}  // namespace penstock::testing
