#include "graph/ops/activations/softmax.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/axes.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

namespace attribute {

constexpr IntegerAttribute axis{"axis", -1};

}  // namespace attribute
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  auto out = infer_unary(attributes, in);
  expect_axis(attribute::axis.of(attributes), in[0]);
  expect_elements(in[0], "x");
  return out;
}

/// Serves as Op::units. A unit is all lines that have the same index before the axis: their
/// elements are neighbours in memory, and the kernel computes these lines side by side.
std::int64_t units(const Attributes& attributes, Types in, Types) {
  return lines_along(in[0].shape, attribute::axis.of(attributes)).outer;
}

/// A LineRange has the lines of a part of the work, and the index of their first element.
struct LineRange {
  Lines lines;
  std::int64_t first;

  explicit LineRange(const KernelCall& call)
      : lines(lines_along(call.inputs[0].shape(), attribute::axis.of(call.attributes))) {
    const Part part = within(call.part, lines.outer);
    first = part.begin * lines.length * lines.inner;
    lines.outer = part.end - part.begin;
  }
};

template <auto SoftmaxKernels::*kernel>
void forward(const KernelCall& call) {
  const auto [lines, first] = LineRange(call);
  (kernel_table().softmax.*kernel)(lines, call.inputs[0].f32().data() + first,
                                   call.outputs[0].f32().data() + first);
}

template <const Op& gradient>
void backward(GradientContext& context) {
  context.set(
      0, context.emit(gradient, {context.output(0), context.gradient(0)}, context.attributes()));
}

template <auto SoftmaxKernels::*kernel>
void forward_gradient(const KernelCall& call) {
  const auto [lines, first] = LineRange(call);
  (kernel_table().softmax.*kernel)(lines, call.inputs[0].f32().data() + first,
                                   call.inputs[1].f32().data() + first,
                                   call.outputs[0].f32().data() + first);
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {5, 7}}}},
          {.inputs = {{DType::f32, {3, 4, 70}}}, .attributes = {{"axis", std::int64_t{1}}}},
          {.inputs = {{DType::f32, {6, 5}}}, .attributes = {{"axis", std::int64_t{0}}}}};
}

}  // namespace

const Op softmax{.name = "softmax",
                 .onnx = "Softmax",
                 .attributes = {attribute::axis},
                 .infer = infer,
                 .forward = forward<&SoftmaxKernels::softmax>,
                 .backward = backward<softmax_gradient>,
                 .cost = streaming_cost<14>,
                 .units = units,
                 .overwrites = {{0, 0}},
                 .samples = samples};

const Op softmax_gradient{.name = "softmax_gradient",
                          .attributes = {attribute::axis},
                          .infer = infer_unary_gradient,
                          .forward = forward_gradient<&SoftmaxKernels::softmax_gradient>,
                          .cost = streaming_cost<4>,
                          .units = units,
                          .overwrites = {{1, 0}, {0, 0}}};

const Op log_softmax{.name = "log_softmax",
                     .onnx = "LogSoftmax",
                     .attributes = {attribute::axis},
                     .infer = infer,
                     .forward = forward<&SoftmaxKernels::log_softmax>,
                     .backward = backward<log_softmax_gradient>,
                     .cost = streaming_cost<14>,
                     .units = units,
                     .overwrites = {{0, 0}},
                     .samples = samples};

const Op log_softmax_gradient{.name = "log_softmax_gradient",
                              .attributes = {attribute::axis},
                              .infer = infer_unary_gradient,
                              .forward = forward_gradient<&SoftmaxKernels::log_softmax_gradient>,
                              .cost = streaming_cost<14>,
                              .units = units,
                              .overwrites = {{1, 0}, {0, 0}}};

}  // namespace penstock::graph
