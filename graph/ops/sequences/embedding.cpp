#include "graph/ops/sequences/embedding.hpp"

#include <algorithm>
#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/axes.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

namespace attribute {

constexpr IntegerAttribute rows{"rows"};

}  // namespace attribute
namespace {

std::vector<TensorType> infer(const Attributes&, Types in) {
  expect_inputs(in, 2, "weight, ids");
  expect_dtype(in[0], DType::f32, "weight");
  expect_rank(in[0], 2, "weight");
  expect_elements(in[0], "weight");
  expect_dtype(in[1], DType::i64, "ids");
  return {{DType::f32, with_new_axis(in[1].shape, in[1].shape.rank(), in[0].shape[1])}};
}

std::int64_t checked(std::span<const std::int64_t> ids, std::size_t i, std::int64_t rows) {
  if (ids[i] >= 0 && ids[i] < rows) return ids[i];
  throw Error(Errc::invalid_data, "id " + std::to_string(ids[i]) + " at position " +
                                      std::to_string(i) + ": expected 0 to " +
                                      std::to_string(rows - 1));
}

void forward(const KernelCall& call) {
  const std::int64_t rows = call.inputs[0].shape()[0], size = call.inputs[0].shape()[1];
  const auto ids = call.inputs[1].i64();
  float* y = call.outputs[0].f32().data();
  for (std::size_t i = 0; i < ids.size(); ++i, y += size)
    std::copy_n(call.inputs[0].f32().data() + checked(ids, i, rows) * size, size, y);
}

void backward(GradientContext& context) {
  context.set(0, context.emit(embedding_gradient, {context.input(1), context.gradient(0)},
                              {{"rows", context.type(context.input(0)).shape[0]}}));
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
  for (std::size_t i = 0; i < ids.size(); ++i, dy += size) {
    float* const row = dweight + checked(ids, i, rows) * size;
    kernels.add(size, {row, false}, {dy, false}, row);
  }
}

void fill_rows(const Operand& ids, std::int64_t rows) {
  std::int64_t number = 0;
  for (std::int64_t& id : ids.i64()) id = number++ % rows;
}

void fill_ids(const Attributes&, std::span<const Operand> inputs) {
  fill_rows(inputs[1], inputs[0].shape()[0]);
}

std::vector<IndexRange> ranges_of_ids(const Attributes&, Types inputs) {
  return {{.input = 1, .end = inputs[0].shape[0], .element = "id"}};
}

void fill_ids_of_gradient(const Attributes& attributes, std::span<const Operand> inputs) {
  fill_rows(inputs[0], attribute::rows.of(attributes));
}

}  // namespace

const Op embedding{.name = "embedding",
                   .onnx = "Gather",
                   .infer = infer,
                   .forward = forward,
                   .backward = backward,
                   .cost = streaming_cost<0>,
                   .samples = samples,
                   .make_valid = fill_ids,
                   .index_ranges = ranges_of_ids};

const Op embedding_gradient{.name = "embedding_gradient",
                            .attributes = {attribute::rows},
                            .infer = infer_gradient,
                            .forward = forward_gradient,
                            .cost = streaming_cost<1>,
                            .make_valid = fill_ids_of_gradient};

}  // namespace penstock::graph
