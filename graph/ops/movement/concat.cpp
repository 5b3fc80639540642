#include "graph/ops/movement/concat.hpp"

#include <algorithm>
#include <string>

#include "graph/ops/movement/slices.hpp"
#include "graph/ops/rules/along_axis.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/values/element_type.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer_concat(const Attributes& attributes, Types in) {
  expect(!in.empty(), "expected 1 input or more, got 0");
  const auto axis = static_cast<std::ptrdiff_t>(expect_axis(attribute::axis.of(attributes), in[0]));
  std::int64_t size = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::string name = "input " + std::to_string(i);
    expect_dtype(in[i], in[0].dtype, name);
    expect_rank(in[i], in[0].shape.rank(), name);
    expect_shape(in[i], in[0].shape.with(axis, in[i].shape[axis]), name);
    size += in[i].shape[axis];
  }
  return {{in[0].dtype, in[0].shape.with(axis, size)}};
}

template <class T>
void copy_parts(const KernelCall& call) {
  const std::int64_t axis = attribute::axis.of(call.attributes);
  const Lines whole = lines_along(call.outputs[0].shape(), axis);
  T* y = static_cast<T*>(call.outputs[0].data);
  for (const Operand& part : call.inputs) {
    const T* const x = static_cast<const T*>(part.data);
    const std::int64_t row = lines_along(part.shape(), axis).length * whole.inner;
    for (std::int64_t i = 0; i < whole.outer; ++i)
      std::copy_n(x + i * row, row, y + i * whole.length * whole.inner);
    y += row;
  }
}

void forward_concat(const KernelCall& call) {
  with_element_type(call.outputs[0].type->dtype, [&]<class T>() { copy_parts<T>(call); });
}

void backward_concat(GradientContext& context) {
  const std::int64_t axis = attribute::axis.of(context.attributes());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    const std::int64_t end = begin + context.type(context.input(i)).shape[axis];
    if (context.needs(i))
      context.set(i, context.emit(slice, {context.gradient(0)},
                                  {{"axis", axis}, {"begin", begin}, {"end", end}}));
    begin = end;
  }
}

std::vector<OpSample> concat_samples() {
  const TensorType wide{DType::f32, {2, 3, 4}}, narrow{DType::f32, {2, 1, 4}};
  return {{.inputs = {wide, narrow, wide}, .attributes = {{"axis", std::int64_t{1}}}},
          {.inputs = {wide, wide}, .attributes = {{"axis", std::int64_t{-1}}}},
          {.inputs = {wide}}};
}

}  // namespace

const Op concat{.name = "concat",
                .onnx = "Concat",
                .attributes = {attribute::axis},
                .infer = infer_concat,
                .forward = forward_concat,
                .backward = backward_concat,
                .cost = streaming_cost<0>,
                .samples = concat_samples,
                .keeps_elements = true};

}  // namespace penstock::graph
