#include "graph/ops/sequences/embedding.hpp"

#include <algorithm>
#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/axes.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/indices.hpp"

namespace penstock::graph {

namespace attribute {

constexpr IntegerAttribute rows{"rows"};
constexpr IntegerAttribute padding_index{"padding_index", -1};

}  // namespace attribute
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "weight, ids");
  expect_dtype(in[0], DType::f32, "weight");
  expect_rank(in[0], 2, "weight");
  expect_elements(in[0], "weight");
  const std::int64_t padding = attribute::padding_index.of(attributes), rows = in[0].shape[0];
  expect(padding >= -1 && padding < rows, "expected padding_index from 0 to " +
                                              std::to_string(rows - 1) + ", or -1 for none, got " +
                                              std::to_string(padding));
  expect_dtype(in[1], DType::i64, "ids");
  return {{DType::f32, with_new_axis(in[1].shape, in[1].shape.rank(), in[0].shape[1])}};
}

void forward(const KernelCall& call) {
  const std::int64_t rows = call.inputs[0].shape()[0], size = call.inputs[0].shape()[1];
  const auto ids = call.inputs[1].i64();
  float* y = call.outputs[0].f32().data();
  for (std::size_t i = 0; i < ids.size(); ++i, y += size)
    std::copy_n(call.inputs[0].f32().data() + checked_index(ids, i, rows, "id") * size, size, y);
}

void backward(GradientContext& context) {
  context.set(0,
              context.emit(embedding_gradient, {context.input(1), context.gradient(0)},
                           {{"rows", context.type(context.input(0)).shape[0]},
                            {"padding_index", attribute::padding_index.of(context.attributes())}}));
}

std::vector<OpSample> samples() {
  const TensorType weight{DType::f32, {5, 3}};
  return {{.inputs = {weight, {DType::i64, {2, 4}}}, .labels = 5},
          {.inputs = {weight, {DType::i64, {7}}}, .labels = 2}};
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "ids, dy");
  return {{DType::f32, {attribute::rows.of(attributes), in[1].shape[-1]}}};
}

void forward_gradient(const KernelCall& call) {
  const std::int64_t rows = call.outputs[0].shape()[0], size = call.outputs[0].shape()[1];
  const auto ids = call.inputs[0].i64();
  const ArithmeticKernels& kernels = kernel_table().arithmetic;
  float* const dweight = call.outputs[0].f32().data();
  const float* dy = call.inputs[1].f32().data();
  kernels.fill(rows * size, 0, dweight);
  const std::int64_t padding = attribute::padding_index.of(call.attributes);
  for (std::size_t i = 0; i < ids.size(); ++i, dy += size) {
    float* const row = dweight + checked_index(ids, i, rows, "id") * size;
    if (ids[i] == padding) continue;
    kernels.add(size, {row, false}, {dy, false}, row);
  }
}

void fill_ids(const Attributes&, std::span<const Operand> inputs) {
  fill_indices(inputs[1], inputs[0].shape()[0]);
}

std::vector<IndexRange> ranges_of_ids(const Attributes&, Types inputs) {
  return {{.input = 1, .end = inputs[0].shape[0], .element = "id"}};
}

void fill_ids_of_gradient(const Attributes& attributes, std::span<const Operand> inputs) {
  fill_indices(inputs[0], attribute::rows.of(attributes));
}

}  // namespace

const Op embedding{.name = "embedding",
                   .onnx = "Gather",
                   .attributes = {attribute::padding_index},
                   .infer = infer,
                   .forward = forward,
                   .backward = backward,
                   .cost = streaming_cost<0>,
                   .samples = samples,
                   .make_valid = fill_ids,
                   .index_ranges = ranges_of_ids,
                   .index_inputs = {1}};

const Op embedding_gradient{.name = "embedding_gradient",
                            .attributes = {attribute::rows, attribute::padding_index},
                            .infer = infer_gradient,
                            .forward = forward_gradient,
                            .cost = streaming_cost<1>,
                            .make_valid = fill_ids_of_gradient};

}  // namespace penstock::graph
