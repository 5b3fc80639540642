// These are the layers of Model that have a name, with the shapes and the initial values of their
// parameters.
#include <cmath>

#include "engine/model/initial_values.hpp"
#include "engine/model/model_state.hpp"
#include "engine/names/known_names.hpp"
#include "graph/ops/activations/dropout.hpp"
#include "graph/ops/arithmetic/linear.hpp"
#include "graph/ops/convolution/conv2d.hpp"
#include "graph/ops/sequences/embedding.hpp"
#include "graph/values/text.hpp"

namespace penstock {
namespace {

/// Returns the initializer of the weights and biases of linear and convolution layers, as in
/// PyTorch: kaiming_uniform_ with a = sqrt(5).
Initializer fan_in_uniform(double fan_in) {
  const double bound = 1 / std::sqrt(fan_in);
  return Initializer::uniform(-bound, bound);
}

}  // namespace

Value Model::conv2d(const std::string& name, Value x, const Conv2dOptions& options) {
  return impl_->calling(graph::conv2d.name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::conv2d, name, x);
    layer.expect_rank(4);
    layer.expect_positive("out_channels", options.out_channels);
    layer.expect_positive("kernel", options.kernel);
    layer.expect_positive("groups", options.groups);
    const std::int64_t channels = layer.shape()[1] / options.groups, kernel = options.kernel;
    const double side = static_cast<double>(kernel);
    const auto start = fan_in_uniform(static_cast<double>(channels) * side * side);
    layer.parameter("weight", {options.out_channels, channels, kernel, kernel}, start);
    if (options.bias) layer.parameter("bias", {options.out_channels}, start);
    return impl.finish(layer, {{"stride", options.stride},
                               {"padding", options.padding},
                               {"dilation", options.dilation},
                               {"groups", options.groups}});
  });
}

Value Model::linear(const std::string& name, Value x, std::int64_t out_features, bool bias) {
  return impl_->calling(graph::linear.name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::linear, name, x);
    layer.expect_rank_from(2);
    layer.expect_positive("out_features", out_features);
    const std::int64_t in_features = layer.shape()[-1];
    const auto start = fan_in_uniform(static_cast<double>(in_features));
    layer.parameter("weight", {out_features, in_features}, start);
    if (bias) layer.parameter("bias", {out_features}, start);
    return impl.finish(layer);
  });
}

Value Model::linear(Value x, Value weight) {
  return impl_->add(graph::linear, {x, weight});
}

Value Model::parameter(const std::string& name) const {
  return impl_->calling("Model::parameter", [&](Impl& impl) {
    const graph::Graph& graph = impl.network.graph();
    std::vector<std::string_view> known;
    for (const graph::Variable& variable : graph.variables) {
      const graph::Value& value = graph.value(variable.value);
      if (value.kind != graph::ValueKind::parameter) continue;
      if (value.name == name) return impl.value(variable.value);
      known.push_back(value.name);
    }
    throw Error(Errc::invalid_argument, "model " + quoted_text(graph.name) +
                                            ": there is no parameter " + quoted_text(name) +
                                            instead_of(name, known));
  });
}

Value Model::parameter(const std::string& name, const Shape& shape,
                       const Initializer& initializer) {
  return impl_->calling("Model::parameter", [&](Impl& impl) {
    check_initializer(initializer, shape, name);
    if (shape.elements() == 0)
      throw Error(Errc::shape_mismatch, "parameter " + quoted_text(name) +
                                            ": expected at least one element, got " +
                                            to_string(shape));
    NetworkBuilder::Draft draft(impl.network);
    const graph::ValueId id =
        impl.network.variable(name, shape, initializer, graph::ValueKind::parameter);
    impl.add_weights(impl.new_weights());
    draft.keep();
    return impl.value(id);
  });
}

Value Model::embedding(const std::string& name, Value ids, std::int64_t count, std::int64_t size) {
  return impl_->calling(graph::embedding.name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::embedding, name, ids);
    layer.expect_positive("count", count);
    layer.expect_positive("size", size);
    layer.leading_parameter("weight", {count, size}, Initializer::normal());
    return impl.finish(layer);
  });
}

Value Model::dropout(const std::string& name, Value x, double probability) {
  return impl_->calling(graph::dropout.name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::dropout, name, x);
    return impl.finish(layer, {{"p", probability}});
  });
}

}  // namespace penstock
