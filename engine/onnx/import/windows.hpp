// Convolutions and poolings of ONNX share these declarations: how their windows lie, and how a
// tensor [N,C,...] is a value whose axis 0 counts samples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/onnx/import/node_import.hpp"

namespace penstock {

/// Windows say how windows slide along the axes behind the channels; each list has a number for
/// each of these axes.
struct Windows {
  Dims kernel, stride, dilation, before, after;

  std::size_t axes() const { return kernel.size(); }
  /// Returns whether as much is added before each axis as behind it.
  bool is_even() const { return before == after; }
};

/// Returns the windows of the node over an input of the sizes `sizes`. `kernel` is the size of a
/// window if the attribute kernel_shape does not say it.
Windows windows_of(const NodeImport& n, const Dims& sizes, const Dims& kernel);

/// Images are a tensor [N,C,...] of ONNX as a value of the model.
struct Images {
  Value value;
  Dims sizes;  ///< These are the sizes of the axes behind the channels.
  std::int64_t channels;
};

/// Returns input 0 as images. @throws MixedSamples if axis 0 does not count samples.
Images images_of(NodeImport& n);
/// Returns an Imported of `images`, computed as images_of() has it.
Imported of_images(NodeImport& n, const Value& images);

/// Returns the images with `number` around them, as the windows say.
Value padded_images(NodeImport& n, const Images& images, const Windows& windows, double number);

}  // namespace penstock
