// This is the weight norm of Model, which makes a weight of a direction and a length.
#include <cmath>

#include "engine/model/model_state.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/elementary.hpp"
#include "graph/ops/arithmetic/reductions.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using Dims = std::vector<std::int64_t>;

/// Returns the norms of `v` over all axes but `axis`.
Tensor norms_along(const Tensor& v, std::size_t axis) {
  const auto dims = v.shape().dims();
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < dims.size(); ++i) inner *= dims[i];
  std::vector<double> squares(static_cast<std::size_t>(dims[axis]));
  const auto elements = v.as<float>();
  for (std::size_t i = 0; i < elements.size(); ++i)
    squares[i / static_cast<std::size_t>(inner) % squares.size()] +=
        double{elements[i]} * elements[i];
  std::vector<float> norms;
  for (const double square : squares) norms.push_back(static_cast<float>(std::sqrt(square)));
  Dims shape(dims.size(), 1);
  shape[axis] = dims[axis];
  return {Shape(shape), std::span<const float>(norms)};
}

/// Returns g·v/|v|, where |v| is the norm over all axes but `axis`.
Value normalised(ModelState& model, const Value& v, const Value& g, std::size_t rank,
                 std::size_t axis) {
  Dims others;
  for (std::size_t i = 0; i < rank; ++i)
    if (i != axis) others.push_back(static_cast<std::int64_t>(i));
  const Value squares = model.apply(graph::mul, {v, v});
  const Value sums =
      model.apply(graph::sum, {squares}, {{"axes", others}, {"keep", std::int64_t{1}}});
  const Value lengths = model.apply(graph::sqrt, {sums});
  return model.apply(graph::mul, {v, model.apply(graph::div, {g, lengths})});
}

/// Returns the number of the axis, which is 0 for the first one.
std::size_t axis_of(const std::string& name, const Shape& shape, int axis) {
  const auto rank = static_cast<int>(shape.rank());
  if (rank < 2 || axis < -rank || axis >= rank)
    throw Error(Errc::shape_mismatch, "weight_norm " + quoted_text(name) +
                                          ": expected a weight of rank 2 or more and one of its "
                                          "axes, got " +
                                          to_string(shape) + " and axis " + std::to_string(axis));
  if (shape.elements() == 0)
    throw Error(
        Errc::shape_mismatch,
        "weight_norm " + quoted_text(name) + ": " +
            graph::elements_refusal("a weight", to_string(graph::TensorType{DType::f32, shape})));
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

}  // namespace

Value Layers::weight_norm(const std::string& name, const Shape& shape, int axis) {
  return impl_->adding("weight_norm", name, [&](Impl& impl) {
    const std::size_t along = axis_of(name, shape, axis);
    const double bound = 1 / std::sqrt(static_cast<double>(shape.elements() / shape[0]));
    Dims lengths(shape.rank(), 1);
    lengths[along] = shape.dims()[along];
    NetworkBuilder::Draft draft(impl.network);
    const auto parameter = graph::ValueKind::parameter;
    const graph::ValueId v = impl.network.variable(name + ".weight_v", shape,
                                                   Initializer::uniform(-bound, bound), parameter);
    const graph::ValueId g = impl.network.variable(name + ".weight_g", Shape(lengths),
                                                   Initializer::constant(1), parameter);
    const Value result = normalised(impl, impl.value(v), impl.value(g), shape.rank(), along);
    ModelState::NewWeights added = impl.new_weights();
    // Another layer's parameters, if this one has those, have their values already.
    const std::size_t own = added.values.size();
    if (own == 1)
      throw Error(Errc::invalid_argument, "weight_norm " + quoted_text(name) +
                                              ": expected both weight_v and weight_g of another "
                                              "layer or neither, got one of them");
    if (own > 0) added.values[own - 1] = norms_along(added.values[own - 2], along);
    impl.add_weights(std::move(added));
    draft.keep();
    return result;
  });
}

}  // namespace penstock
