// Images in CIFAR-10's binary format whose classes differ by their structure only: ten textures of
// two colours, which are drawn for each image whatever its class. Every texture has as many pixels
// of the one colour as of the other, and begins anywhere, so that neither an image's mean colour
// nor a class's mean image tells anything.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace penstock::testing {

struct TexturedImage {
  int label = 0;                                      ///< Is from 0 to 9.
  std::array<std::uint8_t, 3 * 32 * 32> pixels = {};  ///< Has the shape [3,32,32].
};

/// `count` images, as many of each class but for a rest; those of another seed are others.
std::vector<TexturedImage> textured_images(int count, std::uint64_t seed);

/// Returns the images as the records of a file.
std::string cifar10_records(const std::vector<TexturedImage>& images);

}  // namespace penstock::testing
