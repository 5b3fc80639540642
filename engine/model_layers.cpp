// Model's layers with parameters: their shapes, and how they start.
#include <cmath>

#include "engine/model_state.hpp"
#include "graph/ops/linear.hpp"

namespace penstock {
namespace {

using Kind = graph::Initializer::Kind;

/// Weights and biases of PyTorch's linear and convolution layers (kaiming_uniform_ with a = sqrt
/// 5).
graph::Initializer fan_in_uniform(std::int64_t fan_in) {
  return {.kind = Kind::uniform, .value = 1 / std::sqrt(static_cast<double>(fan_in))};
}

}  // namespace

Value Model::linear(const std::string& name, Value x, std::int64_t out_features, bool bias) {
  Layer layer = impl_->layer(graph::linear, name, x);
  layer.expect_rank(2);
  layer.expect_positive("out_features", out_features);
  const std::int64_t in_features = layer.shape()[1];
  const auto start = fan_in_uniform(in_features);
  layer.parameter("weight", {out_features, in_features}, start);
  if (bias) layer.parameter("bias", {out_features}, start);
  return impl_->finish(layer);
}

}  // namespace penstock
