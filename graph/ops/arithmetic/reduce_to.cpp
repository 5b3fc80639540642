#include "graph/ops/arithmetic/reduce_to.hpp"

#include <algorithm>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/broadcast.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/strided.hpp"

namespace penstock::graph {

namespace attribute {

constexpr ListAttribute shape{"shape"};

}  // namespace attribute
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, 1, "x");
  expect_dtype(in[0], DType::f32, "x");
  const Shape shape(attribute::shape.of(attributes));
  expect(broadcasts_to(shape, in[0].shape), "expected a shape that broadcasts to " +
                                                to_string(in[0].shape) + ", got " +
                                                to_string(shape));
  return {{DType::f32, shape}};
}

/// Asks for one double for each element of the result.
std::int64_t workspace(const Attributes&, Types, Types out) {
  return out[0].shape.elements() * static_cast<std::int64_t>(sizeof(double));
}

void forward(const KernelCall& call) {
  const Operand &x = call.inputs[0], &out = call.outputs[0];
  const std::span<double> sums(reinterpret_cast<double*>(call.workspace.data()),
                               static_cast<std::size_t>(out.elements()));
  std::fill(sums.begin(), sums.end(), 0.0);
  const StridedWalk<2> walk(x.shape(),
                            {dense_strides(x.shape()), broadcast_strides(out.shape(), x.shape())});
  const ReductionKernels& kernels = kernel_table().reductions;
  walk.for_each_row([&, one = walk.steps()[1] == 0](const auto& at) {
    const float* row = x.f32().data() + at[0];
    double* sum = sums.data() + at[1];
    if (one)
      *sum += kernels.sum(walk.length(), row);
    else
      kernels.add_to(walk.length(), row, sum);
  });
  kernels.round(out.elements(), sums.data(), out.f32().data());
}

}  // namespace

const Op reduce_to{.name = "reduce_to",
                   .attributes = {attribute::shape},
                   .infer = infer,
                   .forward = forward,
                   .cost = streaming_cost<1>,
                   .workspace = workspace};

ValueId reduced_to_input(GradientContext& context, ValueId gradient, std::size_t i) {
  const Shape& shape = context.type(context.input(i)).shape;
  if (context.type(gradient).shape == shape) return gradient;
  return context.emit(reduce_to, {gradient},
                      {{"shape", std::vector<std::int64_t>(shape.begin(), shape.end())}});
}

}  // namespace penstock::graph
