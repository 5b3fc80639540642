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

Value Activations::relu(Value x) {
  return impl_->add(graph::relu, {x});
}

Value Activations::leaky_relu(Value x, double negative_slope) {
  return impl_->add(graph::leaky_relu, {x}, [&] {
    return graph::Attributes{{"negative_slope", negative_slope}};
  });
}

Value Activations::sigmoid(Value x) {
  return impl_->add(graph::sigmoid, {x});
}

Value Activations::tanh(Value x) {
  return impl_->add(graph::tanh, {x});
}

Value Activations::gelu(Value x) {
  return impl_->add(graph::gelu, {x});
}

Value Activations::silu(Value x) {
  return impl_->add(graph::silu, {x});
}

Value Activations::softmax(Value x, int axis) {
  return impl_->add(graph::softmax, {x}, [&] { return along(axis); });
}

Value Activations::log_softmax(Value x, int axis) {
  return impl_->add(graph::log_softmax, {x}, [&] { return along(axis); });
}

}  // namespace penstock
