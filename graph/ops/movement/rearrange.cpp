#include "graph/ops/movement/rearrange.hpp"

#include <algorithm>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/moving.hpp"
#include "graph/ops/rules/strided.hpp"
#include "graph/values/text.hpp"

namespace penstock::graph {

namespace attribute {

constexpr ListAttribute shape{"shape"};
constexpr IntegerAttribute start_axis{"start_axis", 1};
constexpr IntegerAttribute end_axis{"end_axis", -1};
constexpr ListAttribute axes{"axes"};

}  // namespace attribute
namespace {

void backward_identity(GradientContext& context) {
  context.set(0, context.gradient(0));
}

std::vector<OpSample> identity_samples() {
  return {{.inputs = {{DType::f32, {3, 7}}}}};
}

using Dims = std::vector<std::int64_t>;

std::string to_text(const Dims& dims) {
  return "[" +
         joined(
             dims, [](std::int64_t dim) { return std::to_string(dim); }, ",") +
         "]";
}

/// Replaces each 0 in `dims` by the dimension of `x` at the same position.
void keep_dimensions(Dims& dims, const Shape& x) {
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] != 0) continue;
    expect(axis < x.rank(), "expected a dimension of x to keep at position " +
                                std::to_string(axis) + ", got x " + to_string(x));
    dims[axis] = x.begin()[axis];
  }
}

/// Replaces the -1 in `dims`, if there is one, by the size that gives the shape `elements`
/// elements, or by 0 if no size does.
void fill_open_dimension(Dims& dims, std::int64_t elements) {
  const auto open = std::find(dims.begin(), dims.end(), -1);
  if (open == dims.end()) return;
  std::int64_t others = 1;
  bool overflows = false;
  for (const std::int64_t dim : dims)
    if (dim != -1) overflows |= __builtin_mul_overflow(others, dim, &others);
  const bool divides = !overflows && others > 0 && elements % others == 0;
  *open = divides ? elements / others : 0;
}

std::vector<TensorType> infer_reshape(const Attributes& attributes, Types in) {
  const DType dtype = moved_type(in);
  const Dims& wanted = attribute::shape.of(attributes);
  const bool sound = std::count(wanted.begin(), wanted.end(), -1) <= 1 &&
                     std::all_of(wanted.begin(), wanted.end(), [](auto dim) { return dim >= -1; });
  expect(sound, "expected a shape with no negative dimension but one -1, got " + to_text(wanted));
  Dims dims = wanted;
  keep_dimensions(dims, in[0].shape);
  fill_open_dimension(dims, in[0].shape.elements());
  const Shape shape(dims);
  expect(shape.elements() == in[0].shape.elements(),
         "expected a shape with " + std::to_string(in[0].shape.elements()) + " elements for x " +
             to_string(in[0].shape) + ", got " + to_text(wanted));
  return {{dtype, shape}};
}

std::vector<TensorType> infer_flatten(const Attributes& attributes, Types in) {
  const DType dtype = moved_type(in);
  const auto start = expect_axis(attribute::start_axis.of(attributes), in[0], "start_axis");
  const auto end = expect_axis(attribute::end_axis.of(attributes), in[0], "end_axis");
  expect(start <= end, "expected start_axis not to be behind end_axis, got axes " +
                           std::to_string(start) + " and " + std::to_string(end) + " of x " +
                           to_string(in[0].shape));
  const auto x = in[0].shape.dims(), behind = x.subspan(end + 1);
  Dims dims(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(start));
  std::int64_t merged = 1;
  bool overflows = false;  // A tensor without elements may have axes as long as one likes.
  for (const std::int64_t dim : x.subspan(start, end + 1 - start))
    overflows |= __builtin_mul_overflow(merged, dim, &merged);
  expect(!overflows, "expected axes whose sizes have a product below 2^63, got axes " +
                         std::to_string(start) + " to " + std::to_string(end) + " of x " +
                         to_string(in[0].shape));
  dims.push_back(merged);
  dims.insert(dims.end(), behind.begin(), behind.end());
  return {{dtype, Shape(dims)}};
}

void backward_reshape(GradientContext& context) {
  const Shape x = context.type(context.input(0)).shape;
  context.set(0,
              context.emit(reshape, {context.gradient(0)}, {{"shape", Dims(x.begin(), x.end())}}));
}

std::vector<OpSample> reshape_samples() {
  const TensorType x{DType::f32, {2, 3, 4}};
  return {{.inputs = {x}, .attributes = {{"shape", Dims{0, -1}}}},
          {.inputs = {x}, .attributes = {{"shape", Dims{4, 3, 2}}}}};
}

std::vector<OpSample> flatten_samples() {
  const TensorType x{DType::f32, {2, 3, 4}};
  return {{.inputs = {x}},
          {.inputs = {x}, .attributes = {{"start_axis", std::int64_t{-1}}}},
          {.inputs = {x},
           .attributes = {{"start_axis", std::int64_t{0}}, {"end_axis", std::int64_t{1}}}}};
}

using Axes = std::vector<std::int64_t>;

/// Returns axis number `i` of a permutation of axes; a negative one counts from the end.
std::size_t from_front(const Axes& axes, std::size_t i) {
  return static_cast<std::size_t>(axes[i] < 0 ? axes[i] + std::ssize(axes) : axes[i]);
}

std::vector<TensorType> infer_transpose(const Attributes& attributes, Types in) {
  const DType dtype = moved_type(in);
  Axes axes = attribute::axes.of(attributes);
  for (std::int64_t& axis : axes)
    if (axis < 0) axis += std::ssize(axes);
  Axes sorted = axes, dims;
  std::sort(sorted.begin(), sorted.end());
  bool permutation = sorted.size() == in[0].shape.rank();
  for (std::size_t i = 0; i < sorted.size(); ++i)
    permutation = permutation && sorted[i] == static_cast<std::int64_t>(i);
  expect(permutation, "expected axes to name each axis of x " + to_string(in[0].shape) +
                          " once, got " + to_text(attribute::axes.of(attributes)));
  for (const std::int64_t axis : axes) dims.push_back(in[0].shape[axis]);
  return {{dtype, Shape(dims)}};
}

/// Copies `n` elements that are `step` elements apart in `from`.
void copy_apart(std::int64_t n, std::int64_t step, const float* from, float* to) {
  kernel_table().arithmetic.gather(n, step, from, to);
}
template <class T>
void copy_apart(std::int64_t n, std::int64_t step, const T* from, T* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[i * step];
}

void forward_transpose(const KernelCall& call) {
  const Operand &x = call.inputs[0], &y = call.outputs[0];
  const Strides dense = dense_strides(x.shape());
  Strides strides{};
  const Axes& axes = attribute::axes.of(call.attributes);
  for (std::size_t i = 0; i < axes.size(); ++i) strides[i] = dense[from_front(axes, i)];
  const StridedWalk<2> walk(y.shape(), {dense_strides(y.shape()), strides});
  const std::int64_t n = walk.length(), step = walk.steps()[1];
  move_elements(call, [&](const auto* from_x, auto* to_y) {
    walk.for_each_row([&](const auto& at) {
      if (step == 1)
        std::copy_n(from_x + at[1], n, to_y + at[0]);
      else
        copy_apart(n, step, from_x + at[1], to_y + at[0]);
    });
  });
}

void backward_transpose(GradientContext& context) {
  const Axes& axes = attribute::axes.of(context.attributes());
  Axes inverse(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i)
    inverse[from_front(axes, i)] = static_cast<std::int64_t>(i);
  context.set(0, context.emit(transpose, {context.gradient(0)}, {{"axes", inverse}}));
}

std::vector<OpSample> transpose_samples() {
  const TensorType x{DType::f32, {2, 3, 4, 5}};
  return {{.inputs = {x}, .attributes = {{"axes", Axes{0, 2, 1, 3}}}},
          {.inputs = {x}, .attributes = {{"axes", Axes{3, 0, 2, 1}}}},
          {.inputs = {x}, .attributes = {{"axes", Axes{0, -1, 1, -2}}}}};
}

}  // namespace

const Op identity{.name = "identity",
                  .onnx = "Identity",
                  .infer = infer_unary,
                  .forward = forward_copy,
                  .backward = backward_identity,
                  .cost = streaming_cost<0>,
                  .overwrites = {{0, 0}},
                  .samples = identity_samples};

const Op stop_gradient{.name = "stop_gradient",
                       .infer = infer_unary,
                       .forward = forward_copy,
                       .cost = streaming_cost<0>,
                       .overwrites = {{0, 0}},
                       .samples = identity_samples,
                       .stops_gradient = true};

const Op reshape{.name = "reshape",
                 .onnx = "Reshape",
                 .attributes = {attribute::shape},
                 .infer = infer_reshape,
                 .forward = forward_copy,
                 .backward = backward_reshape,
                 .cost = streaming_cost<0>,
                 .overwrites = {{0, 0}},
                 .samples = reshape_samples,
                 .keeps_elements = true};

const Op flatten{.name = "flatten",
                 .onnx = "Flatten",
                 .attributes = {attribute::start_axis, attribute::end_axis},
                 .infer = infer_flatten,
                 .forward = forward_copy,
                 .backward = backward_reshape,
                 .cost = streaming_cost<0>,
                 .overwrites = {{0, 0}},
                 .samples = flatten_samples,
                 .keeps_elements = true};

const Op transpose{.name = "transpose",
                   .onnx = "Transpose",
                   .attributes = {attribute::axes},
                   .infer = infer_transpose,
                   .forward = forward_transpose,
                   .backward = backward_transpose,
                   .cost = streaming_cost<0>,
                   .samples = transpose_samples,
                   .keeps_elements = true};

}  // namespace penstock::graph
