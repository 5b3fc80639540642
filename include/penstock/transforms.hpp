// Transforms: datasets that change the images of another one while they are read, in the reading
// thread. An image is a sample's first field, f32 [channels,rows,columns]; the other fields stay.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/dataset.hpp"

namespace penstock {

/// (x - mean) / std for each channel.
struct ChannelNormalization {
  std::vector<double> mean = {};  ///< These are the means to subtract, one per channel.
  std::vector<double> std = {};   ///< The differences are divided by these, one per channel.
};

/// @throws Error shape_mismatch if the first field is no f32 [C,H,W]; invalid_argument unless there
/// are C finite means and C finite and positive stds, also when rounded to f32.
std::shared_ptr<const Dataset> normalize(std::shared_ptr<const Dataset> dataset,
                                         const ChannelNormalization& normalization);

/// These are the options of random_crop().
struct RandomCrop {
  std::int64_t rows = 0;     ///< of the result
  std::int64_t columns = 0;  ///< of the result
  std::int64_t padding = 0;  ///< zeros on each side of the image before it is cropped
  std::uint64_t seed = 0;    ///< Places are drawn from it.
};

/// A window of the padded image, all places equally likely. The place depends on the seed, the
/// epoch and the sample's number alone; never on workers or on the order of reading.
/// @throws Error shape_mismatch as normalize() does; invalid_argument if the window is empty or
/// larger than the padded image.
std::shared_ptr<const Dataset> random_crop(std::shared_ptr<const Dataset> dataset,
                                           const RandomCrop& crop);

/// These are the options of random_horizontal_flip().
struct RandomFlip {
  double probability = 0.5;  ///< An image is flipped with this probability, 0 to 1.
  std::uint64_t seed = 0;    ///< Draws are made from it.
};

/// Left and right exchanged, or not: a draw that depends on the seed, the epoch and the sample's
/// number alone.
/// @throws Error shape_mismatch as normalize() does; invalid_argument for a probability below 0 or
/// above 1.
std::shared_ptr<const Dataset> random_horizontal_flip(std::shared_ptr<const Dataset> dataset,
                                                      const RandomFlip& flip = {});

}  // namespace penstock
