// These functions read images from files, and bring them to one size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/images/pixel_image.hpp"
#include "engine/images/resample.hpp"
#include "penstock/images.hpp"

namespace penstock {

/// An ImagePlanes is a decoded image with the channels that the options have asked for.
struct ImagePlanes {
  PlaneSize size = {};
  std::vector<std::uint8_t> pixels = {};
};

/// Checks the options. @throws Error invalid_argument.
void check_image_options(const ImageOptions& options);

/// Reads and decodes the file at `path`. @throws Error as load_image(); std::bad_alloc.
ImagePlanes read_image_file(const std::string& path, const ImageOptions& options);

}  // namespace penstock
