// These are the layers of a Model for sequences, images and volumes: those that slide windows over
// them, and those that change their sizes. docs/layers.md lists them beside PyTorch's.
#pragma once

#include <cstdint>
#include <string>

#include "penstock/activations.hpp"
#include "penstock/convolution_options.hpp"
#include "penstock/pooling_options.hpp"

namespace penstock {

/// SpatialLayers are the methods of Model that add layers for sequences [N,C,L], images [N,C,H,W]
/// and volumes [N,C,D,H,W]. A layer with parameters has a name, which is also that of its
/// parameters.
class SpatialLayers : public Activations {
 public:
  /// Adds a convolution: x [N,C,H,W] -> [N,out_channels,H',W']. The layer has the parameters
  /// NAME.weight [O,C/groups,kh,kw] and NAME.bias [O].
  Value conv2d(const std::string& name, Value x, const Conv2dOptions& options);
  /// Adds a convolution with the weight of another layer, [O,C/groups,kh,kw], and its bias [O], if
  /// there is one. `options` say nothing of out_channels, kernel and bias, which the weight and the
  /// bias decide.
  Value conv2d(Value x, Value weight, Value bias = {}, const Conv2dOptions& options = {});
  /// Adds a convolution over sequences: x [N,C,L] -> [N,out_channels,L']. The layer has the
  /// parameters NAME.weight [O,C/groups,k] and NAME.bias [O].
  Value conv1d(const std::string& name, Value x, const Conv1dOptions& options);
  /// Adds a convolution over sequences with the weight of another layer, [O,C/groups,k], and its
  /// bias [O], if there is one. `options` say nothing of out_channels, kernel and bias.
  Value conv1d(Value x, Value weight, Value bias = {}, const Conv1dOptions& options = {});
  /// Adds a convolution over volumes: x [N,C,D,H,W] -> [N,out_channels,D',H',W']. The layer has the
  /// parameters NAME.weight [O,C/groups,kd,kh,kw] and NAME.bias [O].
  Value conv3d(const std::string& name, Value x, const Conv3dOptions& options);
  /// Adds a convolution over volumes with the weight of another layer, [O,C/groups,kd,kh,kw], and
  /// its bias [O], if there is one. `options` say nothing of out_channels, kernel and bias.
  Value conv3d(Value x, Value weight, Value bias = {}, const Conv3dOptions& options = {});
  /// Adds a transposed convolution, which enlarges images: x [N,C,H,W] ->
  /// [N,out_channels,H',W']. The layer has the parameters NAME.weight [C,out_channels/groups,kh,kw]
  /// and NAME.bias [out_channels].
  Value conv_transpose2d(const std::string& name, Value x, const ConvTranspose2dOptions& options);
  /// Adds a transposed convolution with the weight of another layer, [C,O/groups,kh,kw], and its
  /// bias [O], if there is one. `options` say nothing of out_channels, kernel and bias.
  Value conv_transpose2d(Value x, Value weight, Value bias = {},
                         const ConvTranspose2dOptions& options = {});
  /// Adds a transposed convolution, which enlarges volumes: x [N,C,D,H,W] ->
  /// [N,out_channels,D',H',W']. The layer has the parameters NAME.weight
  /// [C,out_channels/groups,kd,kh,kw] and NAME.bias [out_channels]. It is computed as a convolution
  /// of x with zeros between its elements, so that a stride s takes s³ times the work of an x
  /// without them.
  Value conv_transpose3d(const std::string& name, Value x, const ConvTranspose3dOptions& options);
  /// Adds a transposed convolution over volumes with the weight of another layer,
  /// [C,O/groups,kd,kh,kw], and its bias [O], if there is one. `options` say nothing of
  /// out_channels, kernel and bias.
  Value conv_transpose3d(Value x, Value weight, Value bias = {},
                         const ConvTranspose3dOptions& options = {});
  /// Adds a transposed convolution, which lengthens sequences: x [N,C,L] -> [N,out_channels,L'].
  /// The layer has the parameters NAME.weight [C,out_channels/groups,k] and NAME.bias
  /// [out_channels].
  Value conv_transpose1d(const std::string& name, Value x, const ConvTranspose1dOptions& options);
  /// Adds a transposed convolution over sequences with the weight of another layer, [C,O/groups,k],
  /// and its bias [O], if there is one. `options` say nothing of out_channels, kernel and bias.
  Value conv_transpose1d(Value x, Value weight, Value bias = {},
                         const ConvTranspose1dOptions& options = {});
  /// Returns the largest element of each window: x [N,C,H,W] -> [N,C,H',W'].
  Value max_pool2d(Value x, const MaxPool2dOptions& options = {});
  /// Returns the mean of each window: x [N,C,H,W] -> [N,C,H',W'].
  Value avg_pool2d(Value x, const AvgPool2dOptions& options = {});
  /// Returns the largest element of each window: x [N,C,L] -> [N,C,L'].
  Value max_pool1d(Value x, const MaxPool1dOptions& options = {});
  /// Returns the mean of each window: x [N,C,L] -> [N,C,L'].
  Value avg_pool1d(Value x, const AvgPool1dOptions& options = {});
  /// Returns the largest element of each window: x [N,C,D,H,W] -> [N,C,D',H',W'].
  Value max_pool3d(Value x, const MaxPool3dOptions& options = {});
  /// Returns the mean of each window: x [N,C,D,H,W] -> [N,C,D',H',W'].
  Value avg_pool3d(Value x, const AvgPool3dOptions& options = {});
  /// Returns the p-th root of the sum of x^p over each window, where p is `norm`, from 1.18e-38 to
  /// 8.5e37: x [N,C,H,W] -> [N,C,H',W']. A sum that is below 0 gives 0; if p is 1, it stays as it
  /// is.
  Value lp_pool2d(Value x, double norm, const LpPool2dOptions& options = {});
  /// Does to sequences what lp_pool2d() does to images: x [N,C,L] -> [N,C,L'].
  Value lp_pool1d(Value x, double norm, const LpPool1dOptions& options = {});
  /// Does to volumes what lp_pool2d() does to images: x [N,C,D,H,W] -> [N,C,D',H',W'].
  Value lp_pool3d(Value x, double norm, const LpPool3dOptions& options = {});
  /// Divides an image into `size` windows of about the same size, which may overlap by a pixel, and
  /// returns the mean of each: x [N,C,H,W] -> [N,C,size.rows,size.columns]. Along an axis that they
  /// do not divide evenly, there are at most 4,096 windows. An x without elements is refused.
  Value adaptive_avg_pool2d(Value x, Size2d size);
  /// Returns the largest element of each window of adaptive_avg_pool2d(). If windows overlap, equal
  /// maxima share the gradient; else the first one has it.
  Value adaptive_max_pool2d(Value x, Size2d size);
  /// Does to sequences what adaptive_avg_pool2d() does to images: x [N,C,L] -> [N,C,size].
  Value adaptive_avg_pool1d(Value x, std::int64_t size);
  /// Returns the largest element of each window of adaptive_avg_pool1d(), with the gradient that
  /// adaptive_max_pool2d() has.
  Value adaptive_max_pool1d(Value x, std::int64_t size);
  /// Does to volumes what adaptive_avg_pool2d() does to images: x [N,C,D,H,W] ->
  /// [N,C,size.depth,size.rows,size.columns].
  Value adaptive_avg_pool3d(Value x, Size3d size);
  /// Returns the largest element of each window of adaptive_avg_pool3d(). Rows and columns are
  /// pooled in one step and the depth in another, which docs/layers.md orders. Each step has the
  /// gradient that adaptive_max_pool2d() has.
  Value adaptive_max_pool3d(Value x, Size3d size);
  /// Returns the mean of each channel: [N,C,H,W] -> [N,C,1,1].
  Value global_avg_pool2d(Value x);
  /// Puts `factor`² channels into one image that is `factor` times as high and wide:
  /// [N,C·f²,H,W] -> [N,C,H·f,W·f].
  Value pixel_shuffle(Value x, std::int64_t factor);
  /// Undoes pixel_shuffle(): [N,C,H·f,W·f] -> [N,C·f²,H,W].
  Value pixel_unshuffle(Value x, std::int64_t factor);
  /// Enlarges or reduces x [N,C,L], [N,C,H,W] or [N,C,D,H,W] along all axes behind the channels, to
  /// the sizes of the options.
  /// @throws Error invalid_argument if the options do not fit x or each other.
  Value interpolate(Value x, const InterpolateOptions& options);

 protected:
  SpatialLayers() = default;
};

}  // namespace penstock
