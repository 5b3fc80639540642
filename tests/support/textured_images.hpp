// These functions make images in CIFAR-10's binary format whose classes differ in structure only:
// each class is a texture of two colours. The colours are drawn for each image, whatever its class.
// Both colours have equally many pixels, and the texture begins at a random place, so that neither
// an image's mean colour nor a class's mean image tells the class.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace penstock::testing {

struct TexturedImage {
  int label = 0;                                      ///< This is a number from 0 to 9.
  std::array<std::uint8_t, 3 * 32 * 32> pixels = {};  ///< The shape is [3,32,32].
};

/// Returns `count` images. Image number i has the class i % 10. Another seed gives other images.
std::vector<TexturedImage> textured_images(int count, std::uint64_t seed);

/// Returns `images` as the records of a file in CIFAR-10's binary format.
std::string cifar10_records(const std::vector<TexturedImage>& images);

}  // namespace penstock::testing
