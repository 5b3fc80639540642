#include "graph/ops/custom/custom.hpp"

#include <algorithm>
#include <exception>
#include <string>

#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/values/custom_ops.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

namespace attribute {

constexpr ListAttribute needed{"needed"};

}  // namespace attribute
namespace {

const CustomOp& op_of(const Attributes& attributes) {
  const std::string_view name = attribute::custom_op.of(attributes);
  if (const CustomOp* op = find_custom_op(name)) return *op;
  throw Error(Errc::invalid_argument,
              "expected an op that register_op() has made known, got " + quoted_text(name));
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  const CustomOp& op = op_of(attributes);
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i].dtype != DType::i64) expect_dtype(in[i], DType::f32, "input " + std::to_string(i));
    shapes.push_back(in[i].shape);
  }
  try {
    return {{DType::f32, op.shape(shapes)}};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(Errc::shape_mismatch, op.name + ": " + error.what());
  }
}

OpInput input_of(const Operand& operand) {
  if (operand.type->dtype == DType::i64)
    return {.shape = operand.shape(), .integers = operand.i64()};
  return {.shape = operand.shape(), .values = operand.f32()};
}

std::vector<OpInput> inputs_of(std::span<const Operand> operands) {
  std::vector<OpInput> inputs;
  for (const Operand& operand : operands) inputs.push_back(input_of(operand));
  return inputs;
}

OpOutput output_of(const Operand& operand) {
  std::ranges::fill(operand.f32(), 0.0f);
  return {operand.shape(), operand.f32()};
}

void forward(const KernelCall& call) {
  op_of(call.attributes).forward(inputs_of(call.inputs), output_of(call.outputs[0]));
}

/// Emits the gradients of those inputs that need one and are f32.
void backward(GradientContext& context) {
  std::vector<ValueId> inputs;
  std::vector<std::int64_t> needed;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    inputs.push_back(context.input(i));
    if (context.needs(i) && context.type(context.input(i)).dtype == DType::f32)
      needed.push_back(static_cast<std::int64_t>(i));
  }
  if (needed.empty()) return;
  inputs.insert(inputs.end(), {context.output(0), context.gradient(0)});
  Attributes attributes = context.attributes();
  attributes.set("needed", needed);
  const std::vector<ValueId> gradients =
      context.emit_all(custom_gradient, std::move(inputs), std::move(attributes));
  for (std::size_t i = 0; i < needed.size(); ++i)
    context.set(static_cast<std::size_t>(needed[i]), gradients[i]);
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  op_of(attributes);
  std::vector<TensorType> types;
  for (const std::int64_t position : attribute::needed.of(attributes))
    types.push_back(in[static_cast<std::size_t>(position)]);
  return types;
}

void forward_gradient(const KernelCall& call) {
  const std::vector<OpInput> operands = inputs_of(call.inputs);
  const std::size_t count = operands.size() - 2;
  std::vector<OpOutput> gradients;
  for (std::size_t i = 0; i < count; ++i) gradients.push_back({operands[i].shape, {}});
  const auto& needed = attribute::needed.of(call.attributes);
  for (std::size_t i = 0; i < needed.size(); ++i)
    gradients[static_cast<std::size_t>(needed[i])] = output_of(call.outputs[i]);
  op_of(call.attributes)
      .backward(std::span(operands).first(count), operands[count], operands[count + 1], gradients);
}

}  // namespace

const Op custom{.name = "custom",
                .attributes = {attribute::custom_op},
                .infer = infer,
                .forward = forward,
                .backward = backward,
                .cost = streaming_cost<1>,
                .runs_code_of_host = true};

const Op custom_constant{.name = "custom_constant",
                         .attributes = {attribute::custom_op},
                         .infer = infer,
                         .forward = forward,
                         .cost = streaming_cost<1>,
                         .runs_code_of_host = true,
                         .stops_gradient = true};

const Op custom_gradient{.name = "custom_gradient",
                         .attributes = {attribute::custom_op, attribute::needed},
                         .infer = infer_gradient,
                         .forward = forward_gradient,
                         .cost = streaming_cost<2>,
                         .runs_code_of_host = true};

}  // namespace penstock::graph
