#include "tests/support/numbered_samples.hpp"

#include <cstring>

namespace penstock::testing {

void NumberedSamples::read(std::int64_t index, std::span<std::byte* const> destinations) const {
  before_read(index);
  ++reads_;
  const float number[2] = {static_cast<float>(index), static_cast<float>(index)};
  std::memcpy(destinations[0], number, sizeof number);
  std::memcpy(destinations[1], &index, sizeof index);
}

}  // namespace penstock::testing
