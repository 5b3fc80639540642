#include "graph/ops/order/argmax.hpp"

#include <cmath>

#include "graph/ops/rules/along_axis.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

namespace attribute {

constexpr FlagAttribute keep{"keep"};

}  // namespace attribute
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  infer_unary(attributes, in);
  const std::size_t axis = expect_axis(attribute::axis.of(attributes), in[0]);
  expect_elements(in[0], "x");
  return {{DType::i64, attribute::keep.of(attributes)
                           ? in[0].shape.with(static_cast<std::ptrdiff_t>(axis), 1)
                           : without_axis(in[0].shape, axis)}};
}

template <bool largest>
bool wins(float a, float b) {
  return (largest ? a > b : a < b) || (std::isnan(a) && !std::isnan(b));
}

template <bool largest>
void forward(const KernelCall& call) {
  const Lines lines = lines_of(call.attributes, call.inputs[0].shape());
  const Part part = within(call.part, lines.outer);
  for (std::int64_t i = part.begin; i < part.end; ++i)
    for (std::int64_t k = 0; k < lines.inner; ++k) {
      const float* x = call.inputs[0].f32().data() + i * lines.length * lines.inner + k;
      std::int64_t best = 0;
      for (std::int64_t j = 1; j < lines.length; ++j)
        if (wins<largest>(x[j * lines.inner], x[best * lines.inner])) best = j;
      call.outputs[0].i64()[static_cast<std::size_t>(i * lines.inner + k)] = best;
    }
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {3, 5, 4}};
  return {{.inputs = {x}, .attributes = {{"axis", 1}}},
          {.inputs = {x}, .attributes = {{"axis", -1}, {"keep", 1}}},
          {.inputs = {x}}};
}

Op index_of_extremum(Op op) {
  op.attributes = {attribute::axis, attribute::keep};
  op.infer = infer;
  op.cost = streaming_cost<1>;
  op.units = outer_units;
  op.samples = samples;
  return op;
}

}  // namespace

const Op argmax = index_of_extremum({.name = "argmax", .onnx = "ArgMax", .forward = forward<true>});
const Op argmin =
    index_of_extremum({.name = "argmin", .onnx = "ArgMin", .forward = forward<false>});

}  // namespace penstock::graph
