// read_folders() reads folders of images in files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "penstock/dataset.hpp"
#include "penstock/images.hpp"

namespace trainer {

/// A FolderDemand says what is made of the images in files.
struct FolderDemand {
  penstock::Normalization normalization = {};
  penstock::Shape image = {};  ///< The images get this shape.
  std::int64_t most_classes = 10;
  /// `random_crops` says that training images are random windows of those in the files, which are
  /// drawn from `seed`, and not their middles.
  bool random_crops = false;
  std::uint64_t seed = 0;
  /// `broken` says what is done about images that cannot be decoded.
  penstock::BrokenImages broken = penstock::BrokenImages::refused;
};

struct FolderImages {
  std::shared_ptr<const penstock::Dataset> train;
  std::shared_ptr<const penstock::Dataset> test;
  std::int64_t classes = 0;
  /// `notes` name the images that were left out because they cannot be decoded, or the first ones
  /// of many.
  std::vector<std::string> notes = {};
};

/// Reads the folders "train" and "test" in `directory`, each of which has a folder for each class.
/// Calls `on_read` when each of the two has been read. If broken images are refused, and all files
/// together are small, each file is decoded once ahead; otherwise whoever reads the sample of a
/// broken one gets the error, with the advice to leave broken images out.
/// @throws penstock::Error that names the folder or the file that is refused.
FolderImages read_folders(const std::string& directory, const FolderDemand& demand,
                          const std::function<void()>& on_read);

}  // namespace trainer
