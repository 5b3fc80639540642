// difference() compares what a model computes with what a test of ONNX expects.
#pragma once

#include <optional>

#include "penstock/tensor.hpp"

namespace onnx_tool {

/// Returns the largest difference of two elements that is not allowed, or nothing. Numbers of f32
/// may differ by 1e-7 and a thousandth of what is expected, and elements of other types not at all.
/// The two tensors have the same type and shape.
std::optional<double> difference(const penstock::Tensor& got, const penstock::Tensor& expected);

}  // namespace onnx_tool
