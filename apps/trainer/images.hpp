// The data sets that penstock-train knows are opened and checked here.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/trainer/options/options.hpp"
#include "penstock/dataset.hpp"

namespace trainer {

struct Images {
  std::shared_ptr<const penstock::Dataset> train;  ///< Has the fields image and label.
  std::shared_ptr<const penstock::Dataset> test;
  std::vector<std::string> files = {};  ///< Names the files that the images were read from.
};

/// Reads the training images and the test images, or generates synthetic ones from `seed`. It calls
/// `on_read` when each of the two has been read; generated images are not read.
/// @throws penstock::Error that names the file that cannot be read, or the shape of the images if
/// it is not `image`.
Images open_images(const DataOptions& options, std::uint64_t seed,
                   const penstock::Normalization& normalization, const penstock::Shape& image,
                   const std::function<void()>& on_read);

}  // namespace trainer
