#include "tests/support/read_samples.hpp"

#include <array>

namespace penstock::testing {

LabelledImage read_image(const Dataset& dataset, std::int64_t index) {
  LabelledImage sample;
  sample.image.resize(static_cast<std::size_t>(dataset.fields().at(0).shape.elements()));
  const std::array<std::byte*, 2> destinations{reinterpret_cast<std::byte*>(sample.image.data()),
                                               reinterpret_cast<std::byte*>(&sample.label)};
  dataset.read({.index = index}, destinations);
  return sample;
}

}  // namespace penstock::testing
