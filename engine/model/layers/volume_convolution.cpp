#include "engine/model/layers/volume_convolution.hpp"

#include "graph/ops/movement/index_select.hpp"
#include "graph/ops/movement/slices.hpp"

namespace penstock {
namespace {

/// Returns how many windows fit along an axis of `size` elements with its padding.
std::int64_t places(const Composition& layer, const ConvolvedAxis& axis, std::int64_t size,
                    const std::string& name) {
  layer.expect(axis.extent() <= size, "expected a kernel of at most " + std::to_string(size) + " " +
                                          name + ", which the padded input has, got " +
                                          std::to_string(axis.extent()));
  return (size - axis.extent()) / axis.stride + 1;
}

}  // namespace

Value VolumeConvolution::image(Value x, PaddedInput input, std::int64_t groups) {
  input.first_by_convolution = 2;
  for (const ConvolvedAxis& axis : axes_) expect_sound(layer_, axis);
  layer_.expect(groups >= 1 && layer_.shape(x)[1] % groups == 0,
                "expected a number of input channels that divides into " + std::to_string(groups) +
                    " groups, got " + std::to_string(layer_.shape(x)[1]));
  const Value volume = padded_input(layer_, x, axes_, input, name_);
  const Shape padded = layer_.shape(volume);
  depth_ = places(layer_, axes_[0], padded[2], "slices");
  height_ = places(layer_, axes_[1], padded[3], "rows");
  const Value filled = with_whole_strides(volume);
  height_of_slice_ = layer_.shape(filled)[3];
  const Value windows = selected(filled, 2, slices(), "slices");
  return layer_.fixed(
      layer_.reshaped(windows, {0, padded[1] * axes_[0].kernel, depth_ * height_of_slice_, -1},
                      inner_name(name_, "image")));
}

Value VolumeConvolution::volume(Value convolved) const {
  const Value chosen = selected(convolved, 2, rows(), "rows");
  return layer_.reshaped(chosen, {0, 0, depth_, height_, -1}, name_);
}

/// Returns `volume` with rows at the end of each slice, so that windows of all slices begin in rows
/// that are whole strides apart.
Value VolumeConvolution::with_whole_strides(Value volume) const {
  const std::int64_t over = layer_.shape(volume)[3] % axes_[1].stride;
  if (over == 0) return volume;
  return layer_.apply(graph::pad, {volume},
                      {{"axis", std::int64_t{3}}, {"after", axes_[1].stride - over}},
                      inner_name(name_, "whole_strides"));
}

/// Returns the slices that the first element of the kernel sees in all windows, then those that the
/// second one sees, and so on.
Integers VolumeConvolution::slices() const {
  Integers numbers;
  for (std::int64_t k = 0; k < axes_[0].kernel; ++k)
    for (std::int64_t place = 0; place < depth_; ++place)
      numbers.push_back(place * axes_[0].stride + k * axes_[0].dilation);
  return numbers;
}

/// Returns the rows of the convolved image that belong to the result.
Integers VolumeConvolution::rows() const {
  Integers numbers;
  for (std::int64_t slice = 0; slice < depth_; ++slice)
    for (std::int64_t row = 0; row < height_; ++row)
      numbers.push_back(slice * (height_of_slice_ / axes_[1].stride) + row);
  return numbers;
}

/// Returns the elements of `axis` that `indices` list, or x itself if these are all in order.
Value VolumeConvolution::selected(Value x, std::int64_t axis, Integers indices,
                                  const std::string& part) const {
  bool all = std::ssize(indices) == layer_.shape(x)[axis];
  for (std::size_t i = 0; i < indices.size(); ++i)
    all = all && indices[i] == static_cast<std::int64_t>(i);
  if (all) return x;
  return layer_.apply(graph::index_select, {x}, {{"axis", axis}, {"indices", std::move(indices)}},
                      inner_name(name_, part));
}

}  // namespace penstock
