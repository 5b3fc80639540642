// These functions decode images with libpng and libjpeg, which print nothing and end no process.
// The bytes may be damaged or hostile. A build without one of the libraries has another source for
// its function, which refuses every image of the format.
#pragma once

#include <cstdint>
#include <span>

#include "engine/images/pixel_image.hpp"

namespace penstock {

/// Decodes a PNG image, of which 16-bit samples lose their lower byte. The size is checked before
/// the pixels get memory. @throws Error invalid_data for more than `most_pixels` pixels;
/// corrupt_file for damaged or incomplete data; unsupported in a build without libpng;
/// std::bad_alloc.
PixelImage decode_png(std::span<const std::uint8_t> bytes, std::int64_t most_pixels);

/// Decodes a JPEG image, of which CMYK becomes RGB as Pillow makes it. @throws Error as
/// decode_png(); unsupported in a build without libjpeg; std::bad_alloc.
PixelImage decode_jpeg(std::span<const std::uint8_t> bytes, std::int64_t most_pixels);

}  // namespace penstock
