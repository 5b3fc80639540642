// This reads samples out of a dataset one by one, as a loader's worker does.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/dataset.hpp"

namespace penstock::testing {

/// An image and its label, of datasets that have these two fields.
struct LabelledImage {
  std::vector<float> image;
  std::int64_t label = -1;

  bool operator==(const LabelledImage&) const = default;
};

LabelledImage read_image(const Dataset& dataset, std::int64_t index);

}  // namespace penstock::testing
