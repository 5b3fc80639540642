// Transforms are datasets that change the images of another dataset while they are read, in the
// thread that reads. An image is the first field of a sample, f32 [channels,rows,columns] or,
// except for normalize(), u8; the other fields are passed on.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/dataset.hpp"

namespace penstock {

/// A ChannelNormalization has the constants of normalize(), which computes (x - mean) / std for
/// each channel.
struct ChannelNormalization {
  std::vector<double> mean = {};  ///< `mean` has the means to subtract, one per channel.
  std::vector<double> std = {};   ///< `std` has the numbers to divide by, one per channel.
};

/// Returns a dataset whose images are normalized channel by channel. TensorFunctions::to_float()
/// does so in the model for images of bytes. @throws Error shape_mismatch
/// if the first field is not f32 [C,H,W]; invalid_argument unless there are C means that are finite
/// and C stds that are finite and positive, and still are so when they are rounded to f32.
std::shared_ptr<const Dataset> normalize(std::shared_ptr<const Dataset> dataset,
                                         const ChannelNormalization& normalization);

/// A RandomCrop has the options of random_crop().
struct RandomCrop {
  std::int64_t rows = 0;     ///< The result has this many rows.
  std::int64_t columns = 0;  ///< The result has this many columns.
  /// This many zeros are added on each side of the image before it is cropped.
  std::int64_t padding = 0;
  std::uint64_t seed = 0;  ///< The places of the windows depend on this seed.
};

/// Returns a dataset whose images are windows of the padded images; all places are equally likely.
/// The place depends on the seed, the epoch and the number of the sample alone, never on workers or
/// on the order of reading.
/// @throws Error shape_mismatch if the first field is neither f32 nor u8 [C,H,W]; invalid_argument
/// if the window is empty or larger than the padded image.
std::shared_ptr<const Dataset> random_crop(std::shared_ptr<const Dataset> dataset,
                                           const RandomCrop& crop);

/// A RandomFlip has the options of random_horizontal_flip().
struct RandomFlip {
  double probability = 0.5;  ///< An image is flipped with this probability, 0 to 1.
  std::uint64_t seed = 0;    ///< The choice of images depends on this seed.
};

/// Returns a dataset in which left and right of some images are exchanged. The choice depends on
/// the seed, the epoch and the number of the sample alone.
/// @throws Error shape_mismatch as random_crop() does; invalid_argument for a probability below 0
/// or above 1.
std::shared_ptr<const Dataset> random_horizontal_flip(std::shared_ptr<const Dataset> dataset,
                                                      const RandomFlip& flip = {});

}  // namespace penstock
