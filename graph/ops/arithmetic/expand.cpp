#include "graph/ops/arithmetic/expand.hpp"

#include <algorithm>
#include <string>

#include "graph/ops/arithmetic/reductions.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/moving.hpp"
#include "graph/ops/rules/strided.hpp"

namespace penstock::graph {

namespace attribute {

constexpr ListAttribute shape{"shape"};

}  // namespace attribute
namespace {

using Dims = std::vector<std::int64_t>;

/// Returns the shape `dims`, in which each -1 stands for the dimension that x, aligned at the last
/// axes, has there.
Shape expanded_shape(std::vector<std::int64_t> dims, const Shape& x) {
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] != -1) continue;
    expect(dims.size() - axis <= x.rank(), "expected a dimension of x to keep at position " +
                                               std::to_string(axis) + ", got x " + to_string(x));
    dims[axis] = x[static_cast<std::ptrdiff_t>(axis + x.rank() - dims.size())];
  }
  return Shape(dims);
}

std::vector<TensorType> infer_expand(const Attributes& attributes, Types in) {
  const DType dtype = moved_type(in);
  const Shape shape = expanded_shape(attribute::shape.of(attributes), in[0].shape);
  expect(broadcasts_to(in[0].shape, shape),
         "expected x that broadcasts to " + to_string(shape) + ", got " + to_string(in[0].shape));
  return {{dtype, shape}};
}

void forward_expand(const KernelCall& call) {
  const Operand &x = call.inputs[0], &out = call.outputs[0];
  const StridedWalk<2> walk(
      out.shape(), {dense_strides(out.shape()), broadcast_strides(x.shape(), out.shape())});
  const bool repeats = walk.steps()[1] == 0;
  move_elements(call, [&](const auto* from, auto* to) {
    walk.for_each_row([&](const auto& at) {
      if (repeats)
        std::fill_n(to + at[0], walk.length(), from[at[1]]);
      else
        std::copy_n(from + at[1], walk.length(), to + at[0]);
    });
  });
}

void backward_expand(GradientContext& context) {
  context.set(0, reduced_to_input(context, context.gradient(0), 0));
}

std::vector<OpSample> expand_samples() {
  return {{.inputs = {{DType::f32, {3, 1, 4}}}, .attributes = {{"shape", Dims{2, -1, 5, -1}}}},
          {.inputs = {{DType::f32, {3, 1}}}, .attributes = {{"shape", Dims{3, 4}}}},
          {.inputs = {{DType::f32, {}}}, .attributes = {{"shape", Dims{2, 3}}}}};
}

}  // namespace

const Op expand{.name = "expand",
                .onnx = "Expand",
                .attributes = {attribute::shape},
                .infer = infer_expand,
                .forward = forward_expand,
                .backward = backward_expand,
                .cost = streaming_cost<0>,
                .samples = expand_samples,
                .keeps_elements = true};

}  // namespace penstock::graph
