// These are the layers of Model that have a name, with the shapes and the initial values of their
// parameters.
#include "engine/model/initial_values.hpp"
#include "engine/model/layers/inputs.hpp"
#include "engine/model/model_state.hpp"
#include "graph/ops/activations/prelu.hpp"
#include "graph/ops/arithmetic/linear.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/sequences/embedding.hpp"
#include "graph/values/text.hpp"

namespace penstock {
namespace {

/// Returns the attributes of an embedding with `rows` rows.
graph::Attributes padding_of(std::optional<std::int64_t> index, std::int64_t rows) {
  if (!index) return {};
  if (*index < -rows || *index >= rows)
    throw Error(Errc::invalid_argument,
                "embedding: expected padding_index from " + std::to_string(-rows) + " to " +
                    std::to_string(rows - 1) + ", got " + std::to_string(*index));
  return {{"padding_index", *index < 0 ? *index + rows : *index}};
}

/// Checks that a tensor of f32 has an element. The refusal begins with `kind`, which is "parameter"
/// or "constant", and with the tensor's name.
void expect_element(const std::string& kind, const std::string& name, const Shape& shape) {
  if (shape.elements() > 0) return;
  const std::string got = to_string(graph::TensorType{DType::f32, shape});
  throw Error(Errc::shape_mismatch,
              kind + " " + quoted_text(name) + ": " + graph::elements_refusal("a tensor", got));
}

}  // namespace

Value Layers::linear(const std::string& name, Value x, std::int64_t out_features, bool bias) {
  return impl_->adding(graph::linear.name, name, [&](Impl& impl) {
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

Value Layers::linear(Value x, Value weight, Value bias) {
  return impl_->adding(graph::linear.name, [&](Impl& impl) {
    return impl.apply(graph::linear, with_bias(x, weight, bias));
  });
}

Value Layers::parameter(const std::string& name) const {
  return impl_->calling("Model::parameter",
                        [&](Impl& impl) { return impl.value(impl.network.parameter(name)); });
}

void Layers::share_parameters(const std::string& layer, const std::string& source) {
  impl_->calling("Model::share_parameters", [&](Impl& impl) { impl.network.share(layer, source); });
}

Value Layers::parameter(const std::string& name, const Shape& shape,
                        const Initializer& initializer) {
  return impl_->adding("parameter", name, [&](Impl& impl) {
    check_initializer(initializer, shape, name);
    expect_element("parameter", name, shape);
    NetworkBuilder::Draft draft(impl.network);
    const graph::ValueId id =
        impl.network.variable(name, shape, initializer, graph::ValueKind::parameter);
    impl.add_weights(impl.new_weights());
    draft.keep();
    return impl.value(id);
  });
}

Value Layers::constant(const std::string& name, const Tensor& value) {
  return impl_->calling("Model::constant", [&](Impl& impl) {
    if (value.dtype() != DType::f32)
      throw Error(Errc::unsupported, "constant " + quoted_text(name) +
                                         ": expected a tensor of f32, got " +
                                         std::string(to_string(value.dtype())));
    expect_element("constant", name, value.shape());
    NetworkBuilder::Draft draft(impl.network);
    const graph::ValueId id = impl.network.variable(name, value.shape(), Initializer::constant(0),
                                                    graph::ValueKind::buffer);
    ModelState::NewWeights added = impl.new_weights();
    added.values.back() = Tensor(value.shape(), value.as<float>());
    impl.add_weights(std::move(added));
    draft.keep();
    return impl.value(id);
  });
}

Value Layers::embedding(Value ids, Value weight, std::optional<std::int64_t> padding_index) {
  return impl_->adding(graph::embedding.name, [&](Impl& impl) {
    const Shape shape = impl.network.graph().type(impl.id(graph::embedding.name, weight)).shape;
    const std::int64_t rows = shape.rank() > 0 ? shape[0] : 0;
    return impl.apply(graph::embedding, {weight, ids}, padding_of(padding_index, rows));
  });
}

Value Layers::embedding(const std::string& name, Value ids, std::int64_t count, std::int64_t size,
                        std::optional<std::int64_t> padding_index) {
  return impl_->adding(graph::embedding.name, name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::embedding, name, ids, "ids");
    layer.expect_positive("count", count);
    layer.expect_positive("size", size);
    graph::Attributes padding = padding_of(padding_index, count);
    Initializer initializer = Initializer::normal();
    initializer.zero_row = padding.integer("padding_index", -1);
    layer.leading_parameter("weight", {count, size}, initializer);
    return impl.finish(layer, std::move(padding));
  });
}

Value Layers::prelu(const std::string& name, Value x, std::int64_t slopes, double initial) {
  return impl_->adding(graph::prelu.name, name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::prelu, name, x);
    layer.expect_positive("slopes", slopes);
    const Initializer start = Initializer::constant(initial);
    check_initializer(start, {slopes}, name + ".weight");
    layer.parameter("weight", {slopes}, start);
    return impl.finish(layer);
  });
}

Value Layers::prelu(Value x, Value weight) {
  return impl_->add(graph::prelu, {x, weight});
}

}  // namespace penstock
