// image_paths() lists the images of a folder that has a folder for each class.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock {

struct ImagePaths {
  std::vector<std::string> classes = {};  ///< These are the names of the classes, sorted.
  std::vector<std::string> files = {};
  std::vector<std::int64_t> labels = {};  ///< File i is of class number `labels`[i].
};

/// Returns the images in `directory`, class by class, and within a class folder by folder and file
/// by file, each in the order of their names. @throws Error io_error if there is no such directory;
/// invalid_data if there is no class, or a class without an image; std::bad_alloc.
ImagePaths image_paths(const std::string& directory);

}  // namespace penstock
