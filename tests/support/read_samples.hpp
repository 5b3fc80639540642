// read_image() reads one sample of a dataset, as a loader's worker does.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/dataset.hpp"

namespace penstock::testing {

/// A LabelledImage is an image and its label, from a dataset that has these two fields.
struct LabelledImage {
  std::vector<float> image;
  std::int64_t label = -1;

  bool operator==(const LabelledImage&) const = default;
};

LabelledImage read_image(const Dataset& dataset, std::int64_t index);

}  // namespace penstock::testing
