// The activations, most of which are layers of Model.
#include <array>
#include <limits>

#include "engine/onnx/folding/fold_call.hpp"
#include "engine/onnx/import/operators.hpp"
#include "engine/onnx/shapes/reshaped_dims.hpp"
#include "graph/ops/activations/prelu.hpp"
#include "graph/ops/activations/softmax.hpp"
#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/elementary.hpp"
#include "graph/ops/movement/rearrange.hpp"

namespace penstock {
namespace {

Results leaky_relu(NodeImport& n) {
  return {n.like_first(n.network.model().leaky_relu(n.value(0), n.real("alpha", 0.01)))};
}

Results elu(NodeImport& n) {
  return {n.like_first(n.network.model().elu(n.value(0), n.real("alpha", 1)))};
}

Results celu(NodeImport& n) {
  return {n.like_first(n.network.model().celu(n.value(0), n.real("alpha", 1)))};
}

/// Selu has numbers of its own in ONNX, which may differ from those of the usual one.
Results selu(NodeImport& n) {
  const double alpha = n.real("alpha", 1.67326319217681884765625);
  const double gamma = n.real("gamma", 1.05070102214813232421875);
  const Value x = n.network.model().elu(n.value(0), alpha);
  return {n.like_first(n.apply(graph::scale, {x}, {{"factor", gamma}}))};
}

/// Returns alpha·x + beta between 0 and 1.
Value hard_sigmoid_of(NodeImport& n, const Value& x, double alpha, double beta) {
  const Value line = n.apply(graph::add, {n.apply(graph::scale, {x}, {{"factor", alpha}}),
                                          n.apply(graph::fill, {}, {{"value", beta}})});
  return n.apply(graph::clamp, {line}, {{"low", 0.0}, {"high", 1.0}});
}

Results hard_sigmoid(NodeImport& n) {
  return {n.like_first(hard_sigmoid_of(n, n.value(0), n.real("alpha", 0.2), n.real("beta", 0.5)))};
}

Results hard_swish(NodeImport& n) {
  return {n.like_first(n.network.model().hardswish(n.value(0)))};
}

Results softplus(NodeImport& n) {
  return {n.like_first(n.network.model().softplus(n.value(0)))};
}

Results softsign(NodeImport& n) {
  return {n.like_first(n.network.model().softsign(n.value(0)))};
}

Results mish(NodeImport& n) {
  return {n.like_first(n.network.model().mish(n.value(0)))};
}

Results gelu(NodeImport& n) {
  const bool is_tanh = n.text("approximate", "none") == "tanh";
  return {
      n.like_first(n.network.model().gelu(n.value(0), is_tanh ? GeluForm::tanh : GeluForm::exact))};
}

Results thresholded_relu(NodeImport& n) {
  return {n.like_first(n.network.model().threshold(n.value(0), n.real("alpha", 1), 0))};
}

/// Returns x - bias above lambda, x + bias below -lambda, and 0 elsewhere.
Results shrink(NodeImport& n) {
  const Value x = n.value(0);
  const auto number = [&](double value) { return n.apply(graph::fill, {}, {{"value", value}}); };
  const double bias = n.real("bias", 0), lambda = n.real("lambd", 0.5);
  const Value above = n.apply(graph::less, {number(lambda), x});
  const Value below = n.apply(graph::less, {x, number(-lambda)});
  const Value lowered = n.apply(graph::sub, {x, number(bias)});
  const Value raised = n.apply(graph::add, {x, number(bias)});
  const Value otherwise = n.apply(graph::where, {below, raised, number(0)});
  return {n.like_first(n.apply(graph::where, {above, lowered, otherwise}))};
}

/// Bounds are attributes before version 11, and inputs from then on.
Results clip(NodeImport& n) {
  const auto is_number = [&](std::size_t i) {
    return !n.has(i) || (n.input(i).is_constant() && !n.input(i).trainable);
  };
  if (n.opset >= 11 && !(is_number(1) && is_number(2))) {
    Imported x = n.input(0);
    for (const std::size_t i : {1, 2}) {
      if (!n.has(i)) continue;
      const auto [values, placement] = n.network.aligned({&x, &n.input(i)});
      x = n.result(n.apply(i == 1 ? graph::maximum : graph::minimum, values), x.type, placement);
    }
    return {x};
  }
  constexpr double largest = std::numeric_limits<float>::max();
  const auto bound = [&](std::size_t i, const char* name, double fallback) {
    if (n.opset < 11) return n.real(name, fallback);
    return n.has(i) ? n.known_number(i) : fallback;
  };
  const double low = bound(1, "min", -largest), high = bound(2, "max", largest);
  return {n.like_first(n.apply(graph::clamp, {n.value(0)}, {{"low", low}, {"high", high}}))};
}

/// Before version 13, a softmax is taken over all axes from `axis` on at once.
template <const graph::Op& op>
Results softmax(NodeImport& n) {
  Imported& x = n.input(0);
  const std::int64_t axis = n.integer("axis", n.opset < 13 ? 1 : -1);
  if (n.opset >= 13)
    return {n.like_first(n.apply(op, {n.value(0)}, {{"axis", n.network.axis_of_value(x, axis)}}))};
  const auto rank = static_cast<std::int64_t>(n.rank(0));
  const auto first = static_cast<std::int64_t>(axis_of(axis, n.rank(0)));
  if (first == rank - 1)
    return {n.like_first(n.apply(op, {n.value(0)}, {{"axis", n.network.axis_of_value(x, first)}}))};
  const ProbedDims dims = n.network.dims(x);
  ProbedDims flat;
  for (std::size_t probe = 0; probe < probes; ++probe) {
    flat[probe].assign(dims[probe].begin(), dims[probe].begin() + first);
    std::int64_t joined_size = 1;
    for (std::int64_t i = first; i < rank; ++i)
      joined_size *= dims[probe][static_cast<std::size_t>(i)];
    flat[probe].push_back(joined_size);
  }
  Imported rows = n.network.reshaped(x, flat);
  rows.value = n.apply(op, {rows.value}, {{"axis", n.network.axis_of_value(rows, -1)}});
  return {n.network.reshaped(rows, dims)};
}

/// Returns 1 where x is the first largest element along the axis, and 0 elsewhere.
Results hardmax(NodeImport& n) {
  Imported& x = n.input(0);
  const std::int64_t axis = n.integer("axis", n.opset < 13 ? 1 : -1);
  const auto rank = static_cast<std::int64_t>(n.rank(0));
  n.expect_supported(n.opset >= 13 || axis == -1 || axis == rank - 1,
                     "before version 13 of the operators, its axis has to be the last one");
  const std::int64_t number = n.network.axis_of_value(x, axis);
  const Value largest = n.network.model().argmax(n.value(0), static_cast<int>(number), false);
  const Value ones = n.network.model().one_hot(
      largest, n.dims(0).at(static_cast<std::size_t>(axis < 0 ? axis + rank : axis)));
  // The new axis is the last one; it goes to the place of the axis.
  Dims order;
  const auto all = static_cast<std::int64_t>(n.network.shape(ones).size());
  for (std::int64_t i = 0; i < all - 1; ++i) order.push_back(i);
  order.insert(order.begin() + number, all - 1);
  return {n.like_first(n.apply(graph::transpose, {ones}, {{"axes", order}}))};
}

/// The slopes belong to the channels, or to all axes.
Results prelu(NodeImport& n) {
  const Dims dims = n.dims(0);
  Dims slopes = n.dims(1);
  const auto count = [](const Dims& sizes) {
    std::int64_t product = 1;
    for (const std::int64_t size : sizes) product *= size;
    return product;
  };
  const bool of_channels = n.input(0).placement && n.input(0).placement->is_first() &&
                           dims.size() >= 2 && slopes.size() == dims.size() - 1 &&
                           count(slopes) == slopes[0] && (slopes[0] == dims[1] || slopes[0] == 1);
  if (of_channels) {
    const Value weight = n.apply(graph::reshape, {n.raw(1)}, {{"shape", Dims{-1}}});
    return {n.like_first(n.apply(graph::prelu, {n.value(0), weight}))};
  }
  const auto [values, placement] = n.network.aligned({&n.input(0), &n.input(1)});
  const Value zero = n.apply(graph::fill, {}, {{"value", 0.0}});
  const Value below = n.apply(graph::less, {values[0], zero});
  const Value sloped = n.apply(graph::mul, values);
  return {n.result(n.apply(graph::where, {below, sloped, values[0]}), n.input(0).type, placement)};
}

}  // namespace

std::span<const OnnxOperator> activation_operators() {
  static constexpr std::array<OnnxOperator, 20> operators{{
      {"Celu", celu},
      {"Clip", clip},
      {"Elu", elu},
      {"Gelu", gelu},
      {"HardSigmoid", hard_sigmoid},
      {"HardSwish", hard_swish},
      {"Hardmax", hardmax},
      {"LeakyRelu", leaky_relu},
      {"LogSoftmax", softmax<graph::log_softmax>},
      {"Mish", mish},
      {"PRelu", prelu},
      {"Relu", of_each<graph::relu>},
      {"Selu", selu},
      {"Shrink", shrink},
      {"Sigmoid", of_each<graph::sigmoid>},
      {"Softmax", softmax<graph::softmax>},
      {"Softplus", softplus},
      {"Softsign", softsign},
      {"Tanh", of_each<graph::tanh>},
      {"ThresholdedRelu", thresholded_relu},
  }};
  return operators;
}

}  // namespace penstock
