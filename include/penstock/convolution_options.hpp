// These are the options of a Model's convolutions. They are values with PyTorch's defaults.
#pragma once

#include <cstdint>

#include "penstock/pad_options.hpp"
#include "penstock/sizes.hpp"

namespace penstock {

/// Conv2dOptions are the options of Model::conv2d(), which are those of torch.nn.Conv2d.
struct Conv2dOptions {
  std::int64_t out_channels = 0;  ///< The result has this many channels, 1 or more.
  Size2d kernel = 0;              ///< The kernel has this many rows and columns.
  Size2d stride = 1;              ///< Windows are this many rows and columns apart.
  /// This many rows are added above and below an image, and this many columns on its left and
  /// right.
  Size2d padding = 0;
  Size2d dilation = 1;  ///< The elements of the kernel are this many rows and columns apart.
  /// The channels are divided into this many groups, and each group is convolved by itself.
  std::int64_t groups = 1;
  bool bias = true;  ///< `bias` says whether the layer has a parameter NAME.bias.
  /// If this is true, as much is added as gives the result the rows and columns of x, and `padding`
  /// stays 0. An odd row or column is added below or on the right. The stride must be 1. PyTorch
  /// says padding='same'.
  bool same_padding = false;
  PadMode padding_mode = PadMode::constant;  ///< This says what is added; a constant is 0.
};

/// Conv1dOptions are the options of Model::conv1d(), which are those of torch.nn.Conv1d.
struct Conv1dOptions {
  std::int64_t out_channels = 0;  ///< The result has this many channels, 1 or more.
  std::int64_t kernel = 0;        ///< The kernel has this many elements.
  std::int64_t stride = 1;        ///< Windows are this many elements apart.
  std::int64_t padding = 0;       ///< This many elements are added at each end.
  std::int64_t dilation = 1;      ///< The elements of the kernel are this far apart.
  /// The channels are divided into this many groups, and each group is convolved by itself.
  std::int64_t groups = 1;
  bool bias = true;  ///< `bias` says whether the layer has a parameter NAME.bias.
  /// If this is true, as much is added as gives the result the length of x; see Conv2dOptions.
  bool same_padding = false;
  PadMode padding_mode = PadMode::constant;  ///< This says what is added; a constant is 0.
};

/// Conv3dOptions are the options of Model::conv3d(), which are those of torch.nn.Conv3d.
struct Conv3dOptions {
  std::int64_t out_channels = 0;  ///< The result has this many channels, 1 or more.
  Size3d kernel = 0;              ///< The kernel has this many slices, rows and columns.
  Size3d stride = 1;              ///< Windows are this many slices, rows and columns apart.
  Size3d padding = 0;  ///< This many slices, rows and columns are added on each side of a volume.
  Size3d dilation =
      1;  ///< The elements of the kernel are this many slices, rows and columns apart.
  /// The channels are divided into this many groups, and each group is convolved by itself.
  std::int64_t groups = 1;
  bool bias = true;  ///< `bias` says whether the layer has a parameter NAME.bias.
  /// If this is true, as much is added as gives the result the size of x; see Conv2dOptions.
  bool same_padding = false;
  PadMode padding_mode = PadMode::constant;  ///< This says what is added; a constant is 0.
};

/// ConvTranspose2dOptions are the options of Model::conv_transpose2d(), which are those of
/// torch.nn.ConvTranspose2d.
struct ConvTranspose2dOptions {
  std::int64_t out_channels = 0;  ///< The result has this many channels, 1 or more.
  Size2d kernel = 0;              ///< The kernel has this many rows and columns.
  Size2d stride = 1;  ///< Pixels of x are this many rows and columns apart in the result.
  /// This many rows are taken away above and below the result, and this many columns on its left
  /// and right.
  Size2d padding = 0;
  /// This many rows are added below the result, and this many columns on its right. They are fewer
  /// than the stride.
  Size2d output_padding = 0;
  Size2d dilation = 1;  ///< The elements of the kernel are this many rows and columns apart.
  /// The channels are divided into this many groups, and each group is convolved by itself.
  std::int64_t groups = 1;
  bool bias = true;  ///< `bias` says whether the layer has a parameter NAME.bias.
};

/// ConvTranspose3dOptions are the options of Model::conv_transpose3d(), which are those of
/// torch.nn.ConvTranspose3d.
struct ConvTranspose3dOptions {
  std::int64_t out_channels = 0;  ///< The result has this many channels, 1 or more.
  Size3d kernel = 0;              ///< The kernel has this many slices, rows and columns.
  Size3d stride = 1;  ///< Elements of x are this many slices, rows and columns apart in the result.
  /// This many slices, rows and columns of the result are taken away at each end.
  Size3d padding = 0;
  /// This many slices, rows and columns are added at the end of the result. They are fewer than the
  /// stride.
  Size3d output_padding = 0;
  /// The elements of the kernel are this many slices, rows and columns apart.
  Size3d dilation = 1;
  /// The channels are divided into this many groups, and each group is convolved by itself.
  std::int64_t groups = 1;
  bool bias = true;  ///< `bias` says whether the layer has a parameter NAME.bias.
};

/// ConvTranspose1dOptions are the options of Model::conv_transpose1d(), which are those of
/// torch.nn.ConvTranspose1d.
struct ConvTranspose1dOptions {
  std::int64_t out_channels = 0;  ///< The result has this many channels, 1 or more.
  std::int64_t kernel = 0;        ///< The kernel has this many elements.
  std::int64_t stride = 1;        ///< Elements of x are this far apart in the result.
  std::int64_t padding = 0;       ///< This many elements are taken away at each end of the result.
  /// This many elements are added at the end of the result. They are fewer than the stride.
  std::int64_t output_padding = 0;
  std::int64_t dilation = 1;  ///< The elements of the kernel are this far apart.
  /// The channels are divided into this many groups, and each group is convolved by itself.
  std::int64_t groups = 1;
  bool bias = true;  ///< `bias` says whether the layer has a parameter NAME.bias.
};

}  // namespace penstock
