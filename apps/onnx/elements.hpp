// elements_of() reads the elements of tensors of any type.
#pragma once

#include <vector>

#include "penstock/tensor.hpp"

namespace onnx_tool {

/// Returns the elements of a tensor as numbers.
std::vector<double> elements_of(const penstock::Tensor& tensor);

}  // namespace onnx_tool
