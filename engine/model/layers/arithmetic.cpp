// This is the arithmetic of Model.
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "engine/model/model_state.hpp"
#include "graph/ops/arithmetic/matmul.hpp"

namespace penstock {

Value Model::add(Value a, Value b) {
  return impl_->add(graph::add, {a, b});
}

Value Model::sub(Value a, Value b) {
  return impl_->add(graph::sub, {a, b});
}

Value Model::mul(Value a, Value b) {
  return impl_->add(graph::mul, {a, b});
}

Value Model::scale(Value x, double factor) {
  return impl_->add(graph::scale, {x}, [&] { return graph::Attributes{{"factor", factor}}; });
}

Value Model::matmul(Value a, Value b) {
  return impl_->add(graph::matmul, {a, b});
}

}  // namespace penstock
