#include "graph/ops/movement/triangles.hpp"

#include <algorithm>

#include "graph/ops/rules/axes.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/moving.hpp"

namespace penstock::graph {

namespace attribute {

constexpr IntegerAttribute diagonal{"diagonal"};

}  // namespace attribute
namespace {

std::vector<TensorType> infer(const Attributes&, Types in) {
  moved_type(in);
  expect_rank_from(in[0], 2, "x");
  return {in[0]};
}

/// Serves as Op::units: returns the number of rows of all matrices.
std::int64_t row_units(const Attributes&, Types, Types out) {
  return std::max<std::int64_t>(rows_of(out[0].shape), 1);
}

/// Returns how many columns of row `row` are left of column row + diagonal + shift.
std::int64_t columns_before(std::int64_t row, std::int64_t diagonal, std::int64_t shift,
                            std::int64_t columns) {
  // A diagonal that is far away counts as one just outside, so that no sum overflows.
  const std::int64_t near = std::clamp<std::int64_t>(diagonal, -row - 1, columns);
  return std::clamp<std::int64_t>(row + near + shift, 0, columns);
}

template <bool lower>
void forward(const KernelCall& call) {
  const Shape& shape = call.inputs[0].shape();
  const std::int64_t rows = shape[-2], columns = shape[-1];
  const std::int64_t diagonal = attribute::diagonal.of(call.attributes);
  const Part part = within(call.part, rows_of(shape));
  move_elements(call, [&]<class T>(const T* all_x, T* all_y) {
    for (std::int64_t i = part.begin; i < part.end; ++i) {
      const T* x = all_x + i * columns;
      T* y = all_y + i * columns;
      const std::int64_t cut = columns_before(i % rows, diagonal, lower ? 1 : 0, columns);
      const std::int64_t begin = lower ? 0 : cut, end = lower ? cut : columns;
      for (std::int64_t j = 0; j < columns; ++j) y[j] = j >= begin && j < end ? x[j] : T{0};
    }
  });
}

template <const Op& op>
void backward(GradientContext& context) {
  context.set(0, context.emit(op, {context.gradient(0)}, context.attributes()));
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {2, 4, 5}}}},
          {.inputs = {{DType::f32, {4, 3}}}, .attributes = {{"diagonal", 1}}},
          {.inputs = {{DType::f32, {1, 3, 4}}}, .attributes = {{"diagonal", -1}}}};
}

Op triangle(Op op) {
  op.onnx = "Trilu";
  op.attributes = {attribute::diagonal};
  op.infer = infer;
  op.cost = streaming_cost<0>;
  op.units = row_units;
  op.overwrites = {{0, 0}};
  op.samples = samples;
  return op;
}

}  // namespace

const Op tril = triangle({.name = "tril", .forward = forward<true>, .backward = backward<tril>});
const Op triu = triangle({.name = "triu", .forward = forward<false>, .backward = backward<triu>});

}  // namespace penstock::graph
