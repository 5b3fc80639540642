#include "graph/ops/order/sort.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/indexing/gather.hpp"
#include "graph/ops/rules/along_axis.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

namespace attribute {

constexpr FlagAttribute descending{"descending"};
constexpr IntegerAttribute count{"count", -1};

}  // namespace attribute
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  infer_unary(attributes, in);
  const auto axis = static_cast<std::ptrdiff_t>(expect_axis(attribute::axis.of(attributes), in[0]));
  const std::int64_t size = in[0].shape[axis], count = attribute::count.of(attributes, size);
  expect(count >= 0 && count <= size, "expected a count from 0 to " + std::to_string(size) +
                                          " along axis " + std::to_string(axis) + " of x " +
                                          to_string(in[0].shape) + ", got " +
                                          std::to_string(count));
  const Shape kept = in[0].shape.with(axis, count);
  return {{DType::f32, kept}, {DType::i64, kept}};
}

std::int64_t workspace(const Attributes& attributes, Types in, Types) {
  const auto bytes = static_cast<std::int64_t>(size_of(DType::i64));
  return bytes * lines_of(attributes, in[0].shape).length;
}

bool is_smaller(float a, float b) {
  return a < b || (std::isnan(b) && !std::isnan(a));
}

/// Puts the indices of the first `count` elements of a line in order. The elements of the line,
/// which begins at `x`, are `step` floats apart.
void sort_line(const float* x, std::int64_t step, bool descending, std::span<std::int64_t> indices,
               std::int64_t count) {
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  std::partial_sort(indices.begin(), indices.begin() + count, indices.end(),
                    [&](std::int64_t i, std::int64_t j) {
                      const float a = x[i * step], b = x[j * step];
                      if (is_smaller(a, b)) return !descending;
                      if (is_smaller(b, a)) return descending;
                      return i < j;
                    });
}

void forward(const KernelCall& call) {
  const std::int64_t axis = attribute::axis.of(call.attributes);
  const Lines lines = lines_along(call.inputs[0].shape(), axis);
  const std::int64_t count = lines_along(call.outputs[0].shape(), axis).length;
  const std::span<std::int64_t> indices(reinterpret_cast<std::int64_t*>(call.workspace.data()),
                                        static_cast<std::size_t>(lines.length));
  const Part part = within(call.part, lines.outer);
  for (std::int64_t line = part.begin * lines.inner; line < part.end * lines.inner; ++line) {
    const std::int64_t outer = line / lines.inner, inner = line % lines.inner;
    const float* x = call.inputs[0].f32().data() + outer * lines.length * lines.inner + inner;
    const std::int64_t first = outer * count * lines.inner + inner;
    sort_line(x, lines.inner, attribute::descending.of(call.attributes), indices, count);
    for (std::int64_t j = 0; j < count; ++j) {
      const std::int64_t index = indices[static_cast<std::size_t>(j)];
      const auto to = static_cast<std::size_t>(first + j * lines.inner);
      call.outputs[0].f32()[to] = x[index * lines.inner];
      call.outputs[1].i64()[to] = index;
    }
  }
}

void backward(GradientContext& context) {
  const Shape x = context.type(context.input(0)).shape;
  const ValueId zeros =
      context.emit(fill, {}, {{"shape", std::vector<std::int64_t>(x.begin(), x.end())}});
  context.set(0, context.emit(scatter_add, {zeros, context.output(1), context.gradient(0)},
                              {{"axis", attribute::axis.of(context.attributes())}}));
}

/// Counts about twice the logarithm of the length of a line as the comparisons of an element.
Cost cost(const Attributes& attributes, Types in, Types out) {
  Cost cost = streaming_cost<1>(attributes, in, out);
  const auto length = static_cast<double>(lines_of(attributes, in[0].shape).length);
  cost.flops *= 2 * std::log2(length + 2);
  return cost;
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {3, 5, 4}};
  return {{.inputs = {x}, .attributes = {{"axis", 1}}},
          {.inputs = {x}, .attributes = {{"axis", -1}, {"descending", 1}, {"count", 2}}},
          {.inputs = {x}, .attributes = {{"count", 1}}}};
}

}  // namespace

const Op sort{.name = "sort",
              .attributes = {attribute::axis, attribute::descending, attribute::count},
              .infer = infer,
              .forward = forward,
              .backward = backward,
              .cost = cost,
              .workspace = workspace,
              .units = outer_units,
              .samples = samples};

}  // namespace penstock::graph
