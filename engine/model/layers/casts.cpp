// These are Model's layers that change the type of elements.
#include "graph/ops/casts/casts.hpp"

#include "engine/model/model_state.hpp"

namespace penstock {

Value TensorFunctions::to_float(Value x, double scale, double shift) {
  return impl_->add(graph::to_float, {x}, [&] {
    return graph::Attributes{{"scale", scale}, {"shift", shift}};
  });
}

Value TensorFunctions::to_float(Value x, Value scale, Value shift) {
  return impl_->add(graph::to_float, {x, scale, shift});
}

Value TensorFunctions::to_i64(Value x) {
  return impl_->add(graph::to_i64, {x});
}

}  // namespace penstock
