// A PixelImage is a decoded image. The functions turn it and give its pixels in the order and the
// colors of a dataset. All functions are pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "penstock/images.hpp"

namespace penstock {

/// A PixelImage has one pixel behind the other, row by row from the top, and each pixel has one
/// byte per channel: 1 for gray, 2 for gray and alpha, 3 for red, green and blue, and 4 for these
/// and alpha.
struct PixelImage {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t channels = 0;
  std::vector<std::uint8_t> pixels = {};
  int orientation = 1;  ///< `orientation` is that of the image's EXIF data, from 1 to 8.
};

/// Checks that an image has pixels, and no more than `most_pixels`. @throws Error corrupt_file for
/// none; invalid_data for more.
void check_pixels(std::int64_t rows, std::int64_t columns, std::int64_t most_pixels);

/// Returns the orientation, from 1 to 8, that `tiff` says, which is EXIF data without its name. It
/// is 1, which is upright, if there is none, or if the data are damaged.
int exif_orientation(std::span<const std::uint8_t> tiff) noexcept;

/// Returns the image turned and mirrored upright, as its orientation says.
PixelImage upright(PixelImage image);

/// Returns the number of channels that an image in `color` has.
std::int64_t channels_of(ImageColor color) noexcept;

/// Returns all bytes of the first channel, then those of the second one, and so on. Gray is made of
/// colors by the weights of ITU-R BT.601 in the arithmetic of Pillow. Alpha is dropped, or is 255
/// if the image has none.
std::vector<std::uint8_t> planes_of(const PixelImage& image, ImageColor color);

}  // namespace penstock
