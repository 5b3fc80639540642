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

/// A Resize has the options of resize().
struct Resize {
  std::int64_t rows = 224;     ///< The result has this many rows.
  std::int64_t columns = 224;  ///< The result has this many columns.
};

/// Returns a dataset whose images have another size. A pixel of the result is a weighted mean of
/// the pixels around its place, of as many as it covers if the image becomes smaller: it is
/// Pillow's BILINEAR filter, and torchvision's with antialias=True. Bytes have the bits that Pillow
/// computes.
/// @throws Error shape_mismatch if the first field is neither f32 nor u8 [C,H,W], or if it has no
/// pixel; invalid_argument if the result would have no pixel, or a side of more than 65,536.
std::shared_ptr<const Dataset> resize(std::shared_ptr<const Dataset> dataset, const Resize& size);

/// A CenterCrop has the options of center_crop().
struct CenterCrop {
  std::int64_t rows = 224;     ///< The result has this many rows.
  std::int64_t columns = 224;  ///< The result has this many columns.
};

/// Returns a dataset of the windows in the middle of the images. @throws Error shape_mismatch as
/// random_crop() does; invalid_argument if the window is empty or larger than the image.
std::shared_ptr<const Dataset> center_crop(std::shared_ptr<const Dataset> dataset,
                                           const CenterCrop& crop);

/// A RandomResizedCrop has the options of random_resized_crop().
struct RandomResizedCrop {
  std::int64_t rows = 224;     ///< The result has this many rows.
  std::int64_t columns = 224;  ///< The result has this many columns.
  /// A window has between this share and `largest_area` of the image's area.
  double smallest_area = 0.08;
  double largest_area = 1;  ///< See `smallest_area`.
  /// A window's width divided by its height is between this number and `widest`.
  double narrowest = 3.0 / 4;
  double widest = 4.0 / 3;  ///< See `narrowest`.
  std::uint64_t seed = 0;   ///< The windows depend on this seed.
};

/// Returns a dataset whose images are random windows of the images, resized as by resize(). The
/// windows are drawn as torchvision's RandomResizedCrop draws them: area and the logarithm of the
/// proportion are uniform, and after ten windows that do not fit into the image the largest one in
/// its middle is taken that has an allowed proportion. The window depends on the seed, the epoch
/// and the number of the sample alone.
/// @throws Error as resize(); invalid_argument unless 0 < `smallest_area` <= `largest_area` <= 1
/// and 0 < `narrowest` <= `widest`.
std::shared_ptr<const Dataset> random_resized_crop(std::shared_ptr<const Dataset> dataset,
                                                   const RandomResizedCrop& crop);

/// A FactorRange is where a random factor is drawn from, uniformly.
struct FactorRange {
  double low = 1;   ///< The factor is this large or larger.
  double high = 1;  ///< The factor is below this, or is `low` if both are the same.
};

/// A ColorJitter has the options of color_jitter(). By default, nothing changes.
struct ColorJitter {
  FactorRange brightness = {};  ///< All colors are multiplied by this factor.
  /// The distance of all colors from the mean gray of the image is multiplied by this factor.
  FactorRange contrast = {};
  /// The distance of each pixel's colors from its gray is multiplied by this factor.
  FactorRange saturation = {};
  /// This is added to the hue, which goes around once from 0 to 1: -0.5 to 0.5.
  FactorRange hue = {0, 0};
  std::uint64_t seed = 0;  ///< The factors and their order depend on this seed.
};

/// Returns a dataset whose images change their colors at random, as by torchvision's ColorJitter:
/// brightness, contrast, saturation and hue change in a random order. An image has 1 channel, of
/// which only brightness and contrast change, or 3: red, green and blue. Its numbers are 0 to 1, as
/// they are before normalize(), or bytes, which are rounded once at the end. The result is cut off
/// at 0 and 1, and what was computed of a number that is not finite may be no number. The factors
/// and the order depend on the seed, the epoch and the number of the sample alone.
/// @throws Error shape_mismatch if the first field is neither f32 nor u8 [1,H,W] or [3,H,W];
/// invalid_argument if a range is empty, or if a factor could be negative, or a hue out of its
/// range.
std::shared_ptr<const Dataset> color_jitter(std::shared_ptr<const Dataset> dataset,
                                            const ColorJitter& jitter);

}  // namespace penstock
