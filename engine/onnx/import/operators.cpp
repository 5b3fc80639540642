#include "engine/onnx/import/operators.hpp"

#include <algorithm>

namespace penstock {

const OnnxOperator* find_operator(std::string_view op_type) {
  for (const auto operators :
       {arithmetic_operators(), activation_operators(), reduction_operators(), shape_operators(),
        selection_operators(), matrix_operators(), convolution_operators(), pooling_operators(),
        norm_operators(), recurrent_operators(), loss_operators()}) {
    const auto found = std::ranges::find(operators, op_type, &OnnxOperator::op_type);
    if (found != operators.end()) return &*found;
  }
  return nullptr;
}

}  // namespace penstock
