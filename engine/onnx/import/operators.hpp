// The operators that can be imported, by kind. Each list is in a source of its own.
#pragma once

#include <span>

#include "engine/onnx/import/node_import.hpp"

namespace penstock {

std::span<const OnnxOperator> arithmetic_operators();
std::span<const OnnxOperator> activation_operators();
std::span<const OnnxOperator> reduction_operators();
std::span<const OnnxOperator> shape_operators();
std::span<const OnnxOperator> selection_operators();
std::span<const OnnxOperator> matrix_operators();
std::span<const OnnxOperator> convolution_operators();
std::span<const OnnxOperator> pooling_operators();
std::span<const OnnxOperator> norm_operators();
std::span<const OnnxOperator> recurrent_operators();
std::span<const OnnxOperator> loss_operators();

}  // namespace penstock
