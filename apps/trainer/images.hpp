// The data sets that penstock-train knows are opened and checked here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/trainer/options/options.hpp"
#include "penstock/dataset.hpp"

namespace trainer {

struct Images {
  std::shared_ptr<const penstock::Dataset> train;  ///< Has the fields image and label.
  std::shared_ptr<const penstock::Dataset> test;
  std::vector<std::string> files = {};  ///< Are the files that they were read from.
};

/// Reads both splits. @throws penstock::Error naming the file, or what the images are instead of
/// `image` shaped.
Images open_images(const DataOptions& options, std::uint64_t seed,
                   const penstock::Normalization& normalization, const penstock::Shape& image);

}  // namespace trainer
