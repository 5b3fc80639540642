// These are the options of a Model's poolings and interpolations. They are values with PyTorch's
// defaults.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/sizes.hpp"

namespace penstock {

/// MaxPool2dOptions are the options of Model::max_pool2d(), which are those of torch.nn.MaxPool2d.
struct MaxPool2dOptions {
  Size2d kernel = 2;  ///< A window has this many rows and columns.
  /// Windows are this many rows and columns apart; 0 stands for the size of the kernel.
  Size2d stride = 0;
  /// This many rows are added above and below an image, and this many columns on its left and
  /// right. They are never the maximum.
  Size2d padding = 0;
  Size2d dilation = 1;  ///< The pixels of a window are this many rows and columns apart.
  /// `ceil_mode` says whether a last window that is partly outside of the padded image counts, too.
  bool ceil_mode = false;
};

/// AvgPool2dOptions are the options of Model::avg_pool2d(), which are those of torch.nn.AvgPool2d.
struct AvgPool2dOptions {
  Size2d kernel = 2;  ///< A window has this many rows and columns.
  /// Windows are this many rows and columns apart; 0 stands for the size of the kernel.
  Size2d stride = 0;
  /// This many rows are added above and below an image, and this many columns on its left and
  /// right.
  Size2d padding = 0;
  /// `ceil_mode` says whether a last window that is partly outside of the padded image counts, too.
  bool ceil_mode = false;
  /// `count_include_pad` says whether the padding counts as zeros or not at all.
  bool count_include_pad = true;
};

/// LpPool2dOptions are the options of Model::lp_pool2d(), which are those of torch.nn.LPPool2d.
struct LpPool2dOptions {
  Size2d kernel = 2;  ///< A window has this many rows and columns.
  /// Windows are this many rows and columns apart; 0 stands for the size of the kernel.
  Size2d stride = 0;
  /// `ceil_mode` says whether a last window that is partly outside of the image counts, too.
  /// PyTorch then multiplies the mean of such a window by the whole size of the kernel, and so does
  /// this.
  bool ceil_mode = false;
};

/// LpPool1dOptions are the options of Model::lp_pool1d(), which are those of torch.nn.LPPool1d.
struct LpPool1dOptions {
  std::int64_t kernel = 2;  ///< A window has this many elements.
  /// Windows are this many elements apart; 0 stands for the size of the kernel.
  std::int64_t stride = 0;
  bool ceil_mode = false;  ///< See LpPool2dOptions::ceil_mode.
};

/// LpPool3dOptions are the options of Model::lp_pool3d(), which are those of torch.nn.LPPool3d.
struct LpPool3dOptions {
  Size3d kernel = 2;  ///< A window has this many slices, rows and columns.
  /// Windows are this many slices, rows and columns apart; 0 stands for the size of the kernel.
  Size3d stride = 0;
  bool ceil_mode = false;  ///< See LpPool2dOptions::ceil_mode.
};

/// MaxPool1dOptions are the options of Model::max_pool1d(), which are those of torch.nn.MaxPool1d.
struct MaxPool1dOptions {
  std::int64_t kernel = 2;  ///< A window has this many elements.
  /// Windows are this many elements apart; 0 stands for the size of the kernel.
  std::int64_t stride = 0;
  std::int64_t padding = 0;   ///< This many elements are added at each end; none is the maximum.
  std::int64_t dilation = 1;  ///< The elements of a window are this far apart.
  /// `ceil_mode` says whether a last window that is partly outside of the padded x counts, too.
  bool ceil_mode = false;
};

/// AvgPool1dOptions are the options of Model::avg_pool1d(), which are those of torch.nn.AvgPool1d.
struct AvgPool1dOptions {
  std::int64_t kernel = 2;  ///< A window has this many elements.
  /// Windows are this many elements apart; 0 stands for the size of the kernel.
  std::int64_t stride = 0;
  std::int64_t padding = 0;  ///< This many elements are added at each end.
  /// `ceil_mode` says whether a last window that is partly outside of the padded x counts, too.
  bool ceil_mode = false;
  /// `count_include_pad` says whether the padding counts as zeros or not at all.
  bool count_include_pad = true;
};

/// MaxPool3dOptions are the options of Model::max_pool3d(), which are those of torch.nn.MaxPool3d.
struct MaxPool3dOptions {
  Size3d kernel = 2;  ///< A window has this many slices, rows and columns.
  /// Windows are this many slices, rows and columns apart; 0 stands for the size of the kernel.
  Size3d stride = 0;
  /// This many slices, rows and columns are added on each side of a volume; none is the maximum.
  Size3d padding = 0;
  Size3d dilation = 1;  ///< The elements of a window are this many slices, rows and columns apart.
  /// `ceil_mode` says whether a last window that is partly outside of the padded x counts, too.
  bool ceil_mode = false;
};

/// AvgPool3dOptions are the options of Model::avg_pool3d(), which are those of torch.nn.AvgPool3d.
struct AvgPool3dOptions {
  Size3d kernel = 2;  ///< A window has this many slices, rows and columns.
  /// Windows are this many slices, rows and columns apart; 0 stands for the size of the kernel.
  Size3d stride = 0;
  Size3d padding = 0;  ///< This many slices, rows and columns are added on each side of a volume.
  /// `ceil_mode` says whether a last window that is partly outside of the padded x counts, too.
  bool ceil_mode = false;
  /// `count_include_pad` says whether the padding counts as zeros or not at all.
  bool count_include_pad = true;
};

/// An InterpolateMode says how Model::interpolate() computes elements.
enum class InterpolateMode : std::uint8_t {
  /// An element is that of x at its place, rounded down. PyTorch calls this "nearest".
  nearest,
  /// An element is that of x whose middle is nearest. PyTorch calls this "nearest-exact".
  nearest_exact,
  /// An element is blended of its neighbours in x along each axis. PyTorch calls this "linear",
  /// "bilinear" or "trilinear", by the number of axes.
  linear,
};

/// InterpolateOptions are the options of Model::interpolate(), which are those of
/// torch.nn.functional.interpolate. Either `size` or `scale_factor` is given, with a number for
/// each axis behind the channels, or with one number for all of them.
struct InterpolateOptions {
  std::vector<std::int64_t> size = {};  ///< The result has these sizes along its axes.
  /// The result is this many times as large as x, rounded down.
  std::vector<double> scale_factor = {};
  InterpolateMode mode = InterpolateMode::nearest;  ///< This says how elements are computed.
  /// If this is true, the first and last elements of x and of the result coincide. Otherwise
  /// elements are intervals of one length. Only InterpolateMode::linear has this option.
  bool align_corners = false;
  /// If this is true, `scale_factor` decides the sizes only, and places are computed from the
  /// sizes.
  bool recompute_scale_factor = false;
};

}  // namespace penstock
