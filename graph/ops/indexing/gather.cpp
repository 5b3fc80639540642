#include "graph/ops/indexing/gather.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/rules/along_axis.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/indices.hpp"
#include "graph/ops/rules/moving.hpp"
#include "graph/ops/rules/strided.hpp"

namespace penstock::graph {

namespace attribute {

constexpr IntegerAttribute classes{"classes"};

}  // namespace attribute
namespace {

std::size_t expect_indices(const Attributes& attributes, const TensorType& x,
                           const TensorType& index) {
  const std::size_t axis = expect_axis(attribute::axis.of(attributes), x);
  expect_dtype(index, DType::i64, "index");
  expect_rank(index, x.shape.rank(), "index");
  for (std::size_t i = 0; i < x.shape.rank(); ++i)
    expect(i == axis || index.shape.begin()[i] <= x.shape.begin()[i],
           "expected index no longer than x " + to_string(x.shape) + " along axis " +
               std::to_string(i) + ", got " + to_string(index.shape));
  return axis;
}

std::vector<TensorType> infer_gather(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "x, index");
  expect_indices(attributes, in[0], in[1]);
  return {{in[0].dtype, in[1].shape}};
}

/// Calls `visit(i, j)` for each position `i` in the input `index`, in ascending order. `j` is the
/// position, in a tensor of the shape `x`, of the element to which the index at `i` leads.
void for_each_index(const KernelCall& call, const Shape& x, const auto& visit) {
  const Operand& index = call.inputs[1];
  const auto axis = attribute::axis.of(call.attributes);
  const auto number =
      static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(x.rank()) : axis);
  const std::int64_t size = x[axis], stride = dense_strides(x)[number];
  Strides others = dense_strides(x);
  others[number] = 0;
  const StridedWalk<2> walk(index.shape(), {dense_strides(index.shape()), others});
  walk.for_each_row([&, step = walk.steps()[1]](const auto& at) {
    for (std::int64_t k = 0; k < walk.length(); ++k) {
      const auto i = static_cast<std::size_t>(at[0] + k);
      visit(i, at[1] + k * step + checked_index(index.i64(), i, size, "index") * stride);
    }
  });
}

void forward_gather(const KernelCall& call) {
  move_elements(call, [&](const auto* x, auto* y) {
    for_each_index(call, call.inputs[0].shape(),
                   [&](std::size_t i, std::int64_t from) { y[i] = x[from]; });
  });
}

void backward_gather(GradientContext& context) {
  const Shape x = context.type(context.input(0)).shape;
  const ValueId zeros =
      context.emit(fill, {}, {{"shape", std::vector<std::int64_t>(x.begin(), x.end())}});
  context.set(0, context.emit(scatter_add, {zeros, context.input(1), context.gradient(0)},
                              context.attributes()));
}

std::vector<OpSample> gather_samples() {
  const TensorType x{DType::f32, {3, 4, 5}};
  return {{.inputs = {x, {DType::i64, {3, 6, 5}}}, .attributes = {{"axis", 1}}, .labels = 4},
          {.inputs = {x, {DType::i64, {2, 3, 2}}}, .attributes = {{"axis", -1}}, .labels = 5},
          {.inputs = {x, {DType::i64, {2, 4, 5}}}, .labels = 3}};
}

std::vector<TensorType> infer_scatter_add(const Attributes& attributes, Types in) {
  expect_inputs(in, 3, "x, index, source");
  expect(in[0].dtype != DType::boolean,
         "expected x with numbers, got " + to_string(in[0]) + "; to_float() makes f32 of it");
  expect_indices(attributes, in[0], in[1]);
  expect(in[2].dtype == in[0].dtype,
         "expected source of the type of x " + to_string(in[0]) + ", got " + to_string(in[2]));
  expect_shape(in[2], in[1].shape, "source");
  return {in[0]};
}

/// Returns a + b. A sum of integers that their type does not hold wraps around, as in PyTorch.
template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}

void forward_scatter_add(const KernelCall& call) {
  const Operand& y = call.outputs[0];
  copy(call.inputs[0], y);
  with_element_type(y.type->dtype, [&]<class T>() {
    const auto* source = static_cast<const T*>(call.inputs[2].data);
    auto* to = static_cast<T*>(y.data);
    for_each_index(call, y.shape(),
                   [&](std::size_t i, std::int64_t at) { to[at] = sum_of(to[at], source[i]); });
  });
}

void backward_scatter_add(GradientContext& context) {
  const ValueId dy = context.gradient(0);
  if (context.needs(0)) context.set(0, dy);
  if (context.needs(2))
    context.set(2, context.emit(gather, {dy, context.input(1)}, context.attributes()));
}

std::vector<OpSample> scatter_add_samples() {
  const TensorType x{DType::f32, {3, 4, 5}};
  const auto sample = [&](std::int64_t axis, const Shape& index, std::int64_t size) {
    return OpSample{.inputs = {x, {DType::i64, index}, {DType::f32, index}},
                    .attributes = {{"axis", axis}},
                    .labels = size};
  };
  return {sample(1, {3, 6, 5}, 4), sample(-1, {2, 3, 2}, 5), sample(0, {5, 4, 5}, 3)};
}

void fill_index(const Attributes& attributes, std::span<const Operand> inputs) {
  fill_indices(inputs[1], inputs[0].shape()[attribute::axis.of(attributes)]);
}

std::vector<IndexRange> ranges_of_index(const Attributes& attributes, Types inputs) {
  const std::int64_t size = inputs[0].shape[attribute::axis.of(attributes)];
  return {{.input = 1, .end = size, .element = "index"}};
}

std::vector<TensorType> infer_one_hot(const Attributes& attributes, Types in) {
  expect_inputs(in, 1, "ids");
  expect_dtype(in[0], DType::i64, "ids");
  const std::int64_t classes = attribute::classes.of(attributes);
  expect(classes >= 1, "expected 1 class or more, got " + std::to_string(classes));
  return {{DType::f32, with_new_axis(in[0].shape, in[0].shape.rank(), classes)}};
}

void forward_one_hot(const KernelCall& call) {
  const std::int64_t classes = attribute::classes.of(call.attributes);
  const auto ids = call.inputs[0].i64();
  float* y = call.outputs[0].f32().data();
  for (std::size_t i = 0; i < ids.size(); ++i, y += classes) {
    std::fill_n(y, classes, 0.0f);
    y[checked_index(ids, i, classes, "id")] = 1;
  }
}

std::vector<OpSample> one_hot_samples() {
  return {{.inputs = {{DType::i64, {2, 4}}}, .attributes = {{"classes", 5}}, .labels = 5},
          {.inputs = {{DType::i64, {7}}}, .attributes = {{"classes", 3}}, .labels = 2}};
}

void fill_ids_of_classes(const Attributes& attributes, std::span<const Operand> inputs) {
  fill_indices(inputs[0], attribute::classes.of(attributes));
}

std::vector<IndexRange> ranges_of_classes(const Attributes& attributes, Types) {
  return {{.input = 0, .end = attribute::classes.of(attributes), .element = "id"}};
}

}  // namespace

const Op gather{.name = "gather",
                .onnx = "GatherElements",
                .attributes = {attribute::axis},
                .infer = infer_gather,
                .forward = forward_gather,
                .backward = backward_gather,
                .cost = streaming_cost<1>,
                .samples = gather_samples,
                .make_valid = fill_index,
                .index_ranges = ranges_of_index,
                .index_inputs = {1}};

const Op scatter_add{.name = "scatter_add",
                     .onnx = "ScatterElements",
                     .attributes = {attribute::axis},
                     .infer = infer_scatter_add,
                     .forward = forward_scatter_add,
                     .backward = backward_scatter_add,
                     .cost = streaming_cost<1>,
                     .overwrites = {{0, 0}},
                     .samples = scatter_add_samples,
                     .make_valid = fill_index,
                     .index_ranges = ranges_of_index,
                     .index_inputs = {1}};

const Op one_hot{.name = "one_hot",
                 .onnx = "OneHot",
                 .attributes = {attribute::classes},
                 .infer = infer_one_hot,
                 .forward = forward_one_hot,
                 .cost = streaming_cost<0>,
                 .samples = one_hot_samples,
                 .make_valid = fill_ids_of_classes,
                 .index_ranges = ranges_of_classes,
                 .index_inputs = {0}};

}  // namespace penstock::graph
