// A VolumeConvolution computes a convolution of volumes by one of images. A volume becomes an
// image: the slices that a window sees become channels, and the rows of all windows' slices lie
// below each other. A part of the rows of the convolved image is then the result. The others belong
// to windows that would begin in one slice and end in the next.
#pragma once

#include <array>
#include <string>

#include "engine/model/layers/convolved_axes.hpp"

namespace penstock {

/// A VolumeAxes has the axes of a volume, from slice to slice, along a column and along a row.
using VolumeAxes = std::array<ConvolvedAxis, 3>;

/// A VolumeConvolution adds nodes to a layer. They have names if the layer is called `name`, which
/// may be empty.
class VolumeConvolution {
 public:
  VolumeConvolution(const Composition& layer, const VolumeAxes& axes, const std::string& name)
      : layer_(layer), axes_(axes), name_(name) {}

  /// Returns the image [N,C·kd,OD·H,W] of x, padded as `input` says.
  Value image(Value x, PaddedInput input, std::int64_t groups);

  /// Returns the attributes of the convolution of images.
  graph::Attributes attributes(std::int64_t groups) const {
    return attributes_of(axes_[1], axes_[2], groups);
  }

  /// Returns the shape in which the convolution of images sees the weight [O,C/groups,kd,kh,kw].
  Integers weight_shape(std::int64_t group_channels) const {
    return {0, group_channels * axes_[0].kernel, axes_[1].kernel, axes_[2].kernel};
  }

  /// Returns the result [N,O,OD,OH,OW] from the convolved image.
  Value volume(Value convolved) const;

 private:
  Value with_whole_strides(Value volume) const;
  Integers slices() const;
  Integers rows() const;
  Value selected(Value x, std::int64_t axis, Integers indices, const std::string& part) const;

  const Composition& layer_;
  VolumeAxes axes_;
  const std::string& name_;
  std::int64_t depth_ = 0, height_ = 0;  // These are the numbers of slices and rows of the result.
  std::int64_t height_of_slice_ = 0;     // Each slice has this many rows in the image.
};

}  // namespace penstock
