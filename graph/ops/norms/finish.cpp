#include "graph/ops/norms/finish.hpp"

#include <string>

#include "graph/ops/activations/piecewise.hpp"
#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {
namespace {

bool has_upper_bound(const Attributes& attributes) {
  return attributes.has(attribute::upper_bound.name);
}

bool clamps_as_relu(const Attributes& attributes) {
  return attribute::lower_bound.of(attributes) == 0 && !has_upper_bound(attributes);
}

}  // namespace

bool is_clamped(const Attributes& attributes) {
  return attributes.has(attribute::lower_bound.name) || has_upper_bound(attributes);
}

void expect_bounds(const Attributes& attributes) {
  const double low = attribute::lower_bound.of(attributes);
  if (attributes.has(attribute::lower_bound.name)) check_f32("low", low, any_number);
  if (has_upper_bound(attributes))
    check_f32("high", attribute::upper_bound.of(attributes), {.low = low, .above_low = true});
}

void expect_addend(const TensorType& addend, const TensorType& result) {
  expect_dtype(addend, DType::f32, "addend");
  expect_shape(addend, result.shape, "addend");
}

bool join_clamp(Node& node, const Node& reader) {
  const auto set = [&](const RealAttribute& bound, double value) {
    node.attributes.set(std::string(bound.name), value);
  };
  if (reader.op == &relu) {
    set(attribute::lower_bound, 0);
    return true;
  }
  if (reader.op != &hardtanh) return false;
  set(attribute::lower_bound, attribute::hardtanh_low.of(reader.attributes));
  set(attribute::upper_bound, attribute::hardtanh_high.of(reader.attributes));
  return true;
}

bool join_sum(const Graph& graph, Node& node, const Node& reader, std::size_t position) {
  if (reader.op != &add || attribute::adds.of(node.attributes)) return false;
  const ValueId addend = reader.inputs[1 - position];
  if (graph.type(addend) != graph.type(reader.inputs[position])) return false;
  node.inputs.push_back(addend);
  node.attributes.set(std::string(attribute::adds.name), std::int64_t{1});
  return true;
}

ValueId gradient_before_clamp(GradientContext& context) {
  const Attributes& attributes = context.attributes();
  const ValueId dy = context.gradient(0);
  if (!is_clamped(attributes)) return dy;
  if (clamps_as_relu(attributes)) return context.emit(relu_gradient, {context.output(0), dy});
  return context.emit(hardtanh_gradient, {context.output(0), dy},
                      {{"low", attribute::lower_bound.of(attributes)},
                       {"high", attribute::upper_bound.of(attributes)}});
}

NormClamp norm_clamp(const Attributes& attributes) {
  if (!is_clamped(attributes)) return {};
  if (clamps_as_relu(attributes)) return {.kind = NormClamp::Kind::relu};
  return {.kind = NormClamp::Kind::hardtanh,
          .low = static_cast<float>(attribute::lower_bound.of(attributes)),
          .high = static_cast<float>(attribute::upper_bound.of(attributes))};
}

}  // namespace penstock::graph
