// open_images() opens and checks the data sets that penstock-train knows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/networks/networks.hpp"
#include "apps/trainer/options/options.hpp"
#include "penstock/dataset.hpp"

namespace trainer {

struct Images {
  std::shared_ptr<const penstock::Dataset> train;  ///< `train` has the fields image and label.
  std::shared_ptr<const penstock::Dataset> test;
  /// `files` are the paths of the files from which the images were read, or of folders of images.
  std::vector<std::string> files = {};
  penstock::networks::ImageKind kind = {};
  std::vector<std::string> notes = {};  ///< `notes` say what the user should know of the images.
  penstock::Normalization normalization = {};  ///< The pixels are normalized so.
};

/// Reads the training images and the test images for `network`, or generates synthetic images from
/// `seed`. If the network takes all images, IDX files may have images of any size, and as many
/// classes as their labels say. Calls `on_read` when each of the two sets has been read; generated
/// images are not read. A network without layers is one of a file, of which `images` and `name` are
/// what the file says. Images of a folder get the shape that the network takes or, if it takes all
/// images, that of DataOptions::image_size; `seed` decides on their random windows, too.
/// @throws penstock::Error that names the file that cannot be read or, if the images are not those
/// that the network takes, the shape that they have.
Images open_images(const DataOptions& options, std::uint64_t seed,
                   const penstock::networks::Network& network,
                   const std::function<void()>& on_read);

}  // namespace trainer
