#include "tests/support/numbered_samples.hpp"

#include <cstring>

namespace penstock::testing {

void NumberedSamples::read(const SampleRequest& request,
                           std::span<std::byte* const> destinations) const {
  const std::int64_t index = request.index;
  before_read(index);
  before_request(request);
  ++reads_;
  const float number[2] = {static_cast<float>(index), static_cast<float>(index)};
  std::memcpy(destinations[0], number, sizeof number);
  std::memcpy(destinations[1], &index, sizeof index);
}

}  // namespace penstock::testing
