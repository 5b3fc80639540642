#include "graph/ops/recurrent/recurrence.hpp"

#include <algorithm>
#include <string>

#include "graph/ops/arithmetic/linear.hpp"
#include "graph/ops/arithmetic/sums.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {
namespace {

void expect_f32(const TensorType& type, const Shape& shape, const char* name) {
  expect_dtype(type, DType::f32, name);
  expect_shape(type, shape, name);
}

std::string input_names(const RecurrentInputs& at) {
  std::string names = "gates, weight";
  if (at.bias != 0) names += ", bias";
  if (at.hidden != 0) names += ", h";
  if (at.cell != 0) names += ", c";
  if (at.lengths != 0) names += ", lengths";
  return names;
}

void expect_weight(const Recurrence& recurrence, const TensorType& weight) {
  expect_dtype(weight, DType::f32, "weight");
  expect_rank(weight, 2, "weight");
  expect_elements(weight, "weight");
  expect_shape(weight, {recurrence.gates * weight.shape[1], weight.shape[1]}, "weight");
}

}  // namespace

std::vector<TensorType> infer_recurrent(const Recurrence& recurrence, const Attributes& attributes,
                                        Types in) {
  const RecurrentInputs at(recurrence, attributes);
  expect_inputs(in, at.count, input_names(at));
  expect_weight(recurrence, in[1]);
  const std::int64_t sums = in[1].shape[0], width = in[1].shape[1];
  expect_dtype(in[0], DType::f32, "gates");
  expect_rank(in[0], 3, "gates");
  expect_elements(in[0], "gates");
  const std::int64_t samples = in[0].shape[0], steps = in[0].shape[1];
  expect_shape(in[0], {samples, steps, sums}, "gates");
  if (at.bias != 0) expect_f32(in[at.bias], {sums}, "bias");
  if (at.hidden != 0) expect_f32(in[at.hidden], {samples, width}, "h");
  if (at.cell != 0) expect_f32(in[at.cell], {samples, width}, "c");
  if (at.lengths != 0) {
    expect_dtype(in[at.lengths], DType::i64, "lengths");
    expect_shape(in[at.lengths], {samples}, "lengths");
  }
  const TensorType y{DType::f32, {samples, steps, width}}, state{DType::f32, {samples, width}};
  std::vector<TensorType> out{y, state};
  if (recurrence.has_cell) out.push_back(state);
  if (recurrence.saved > 0) out.insert(out.end(), {in[0], y});
  return out;
}

Cost recurrent_cost(const Attributes&, Types in, Types out) {
  // A step costs a product with the weight, and some forty operations for each gate.
  constexpr std::int64_t of_gate = 40;
  const RecurrentSizes sizes(in[0].shape, in[1].shape);
  Cost cost{.flops = static_cast<double>(sizes.samples * sizes.steps) *
                     static_cast<double>(sizes.sums * (2 * sizes.width + of_gate))};
  for (const TensorType& type : in) cost.bytes += static_cast<double>(type.bytes());
  for (const TensorType& type : out) cost.bytes += static_cast<double>(type.bytes());
  return cost;
}

void fill_lengths(const Attributes&, std::span<const Operand> inputs) {
  for (const Operand& input : inputs)
    if (input.type->dtype == DType::i64) std::ranges::fill(input.i64(), inputs[0].shape()[1]);
}

std::vector<OpSample> recurrent_samples(const Recurrence& recurrence) {
  constexpr std::int64_t samples = 5, steps = 4, width = 3;
  const std::int64_t sums = recurrence.gates * width;
  const TensorType gates{DType::f32, {samples, steps, sums}}, weight{DType::f32, {sums, width}};
  const TensorType bias{DType::f32, {sums}}, state{DType::f32, {samples, width}};
  const TensorType lengths{DType::i64, {samples}};
  std::vector<TensorType> initial{gates, weight, bias, state};
  if (recurrence.has_cell) initial.push_back(state);
  std::vector<TensorType> all = initial;
  all.push_back(lengths);
  return {{.inputs = {gates, weight}},
          {.inputs = initial, .attributes = {{"bias", 1}, {"initial", 1}, {"reverse", 1}}},
          {.inputs = all,
           .attributes = {{"bias", 1}, {"initial", 1}, {"lengths", 1}},
           .labels = steps + 1},
          {.inputs = {gates, weight, lengths},
           .attributes = {{"reverse", 1}, {"lengths", 1}},
           .labels = steps + 1}};
}

std::vector<IndexRange> ranges_of_lengths(const Recurrence& recurrence,
                                          const Attributes& attributes, Types in) {
  const RecurrentInputs at(recurrence, attributes);
  if (at.lengths == 0) return {};
  return {{.input = at.lengths, .end = in[0].shape[1] + 1, .element = "length"}};
}

void emit_recurrent_gradient(GradientContext& context, const Recurrence& recurrence,
                             const Op& gradient, std::size_t sums) {
  const RecurrentInputs at(recurrence, context.attributes());
  const std::size_t states = recurrence.has_cell ? 2 : 1;
  std::vector<ValueId> inputs{context.output(0), context.input(1)};
  for (std::size_t i = 0; i < recurrence.saved; ++i)
    inputs.push_back(context.output(1 + states + i));
  for (const std::size_t position : {at.hidden, at.cell, at.lengths})
    if (position != 0) inputs.push_back(context.input(position));
  Attributes attributes = context.attributes();
  const char* const flags[] = {"dy", "dh", "dc"};
  for (std::size_t i = 0; i < 1 + states; ++i)
    if (context.gradient(i) != none) {
      inputs.push_back(context.gradient(i));
      attributes.set(flags[i], std::int64_t{1});
    }
  const auto out =
      context.emit_all(gradient, std::move(inputs), only_declared(gradient.attributes, attributes));
  if (context.needs(0)) context.set(0, out[0]);
  if (context.needs(1)) context.set(1, context.emit(linear_weight_gradient, {out[1], out[sums]}));
  if (at.bias != 0 && context.needs(at.bias))
    context.set(at.bias, context.emit(channel_sum, {out[sums]}, {{"axis", std::int64_t{-1}}}));
  if (at.hidden != 0 && context.needs(at.hidden)) context.set(at.hidden, out[2]);
  if (at.cell != 0 && context.needs(at.cell)) context.set(at.cell, out[3]);
}

}  // namespace penstock::graph
