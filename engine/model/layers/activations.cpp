// These are the activations and softmaxes of Model.
#include "engine/model/model_state.hpp"
#include "graph/ops/activations/leaky_relu.hpp"
#include "graph/ops/activations/softmax.hpp"
#include "graph/ops/activations/unary.hpp"

namespace penstock {
namespace {

graph::Attributes along(int axis) {
  return {{"axis", std::int64_t{axis}}};
}

}  // namespace

Value Model::relu(Value x) {
  return impl_->add(graph::relu, {x});
}

Value Model::leaky_relu(Value x, double negative_slope) {
  return impl_->add(graph::leaky_relu, {x}, [&] {
    return graph::Attributes{{"negative_slope", negative_slope}};
  });
}

Value Model::sigmoid(Value x) {
  return impl_->add(graph::sigmoid, {x});
}

Value Model::tanh(Value x) {
  return impl_->add(graph::tanh, {x});
}

Value Model::gelu(Value x) {
  return impl_->add(graph::gelu, {x});
}

Value Model::silu(Value x) {
  return impl_->add(graph::silu, {x});
}

Value Model::softmax(Value x, int axis) {
  return impl_->add(graph::softmax, {x}, [&] { return along(axis); });
}

Value Model::log_softmax(Value x, int axis) {
  return impl_->add(graph::log_softmax, {x}, [&] { return along(axis); });
}

}  // namespace penstock
