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
  std::vector<double> mean = {};
  std::vector<double> std = {};
};

/// @throws Error shape_mismatch if the first field is no f32 [C,H,W]; invalid_argument unless there
/// are C finite means and C finite and positive stds, also when rounded to f32.
std::shared_ptr<const Dataset> normalize(std::shared_ptr<const Dataset> dataset,
                                         const ChannelNormalization& normalization);

struct RandomCrop {
  std::int64_t rows = 0;     ///< of the result
  std::int64_t columns = 0;  ///< of the result
  std::int64_t padding = 0;  ///< zeros on each side of the image before it is cropped
  std::uint64_t seed = 0;
};

/// A window of the padded image, all places equally likely. The place depends on the seed, the
/// epoch and the sample's number alone; never on workers or on the order of reading.
/// @throws Error shape_mismatch as normalize() does; invalid_argument if the window is empty or
/// larger than the padded image.
std::shared_ptr<const Dataset> random_crop(std::shared_ptr<const Dataset> dataset,
                                           const RandomCrop& crop);

struct RandomFlip {
  double probability = 0.5;
  std::uint64_t seed = 0;
};

/// Left and right exchanged, or not: a draw that depends on the seed, the epoch and the sample's
/// number alone.
/// @throws Error shape_mismatch as normalize() does; invalid_argument for a probability below 0 or
/// above 1.
std::shared_ptr<const Dataset> random_horizontal_flip(std::shared_ptr<const Dataset> dataset,
                                                      const RandomFlip& flip = {});

}  // namespace penstock
