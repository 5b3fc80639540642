// open_images() opens and checks the data sets that penstock-train knows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/trainer/options/options.hpp"
#include "penstock/dataset.hpp"

namespace trainer {

struct Images {
  std::shared_ptr<const penstock::Dataset> train;  ///< `train` has the fields image and label.
  std::shared_ptr<const penstock::Dataset> test;
  /// `files` are the paths of the files from which the images were read.
  std::vector<std::string> files = {};
};

/// Reads the training images and the test images, or generates synthetic images from `seed`. Calls
/// `on_read` when each of the two has been read; generated images are not read.
/// @throws penstock::Error that names the file that cannot be read or, if the images do not have
/// the shape `image`, the shape that they have.
Images open_images(const DataOptions& options, std::uint64_t seed,
                   const penstock::Normalization& normalization, const penstock::Shape& image,
                   const std::function<void()>& on_read);

}  // namespace trainer
