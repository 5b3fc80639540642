#include "graph/ops/arithmetic/matmul.hpp"

#include <optional>
#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/kernels/products/units.hpp"
#include "graph/kernels/products/workspace.hpp"
#include "graph/ops/arithmetic/reductions.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/rules/axes.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/strided.hpp"

namespace penstock::graph {

namespace attribute {

constexpr FlagAttribute transpose_a{"transpose_a"};
constexpr FlagAttribute transpose_b{"transpose_b"};

}  // namespace attribute
namespace {

/// A Layout describes how the matrices of an operand are stored.
struct Layout {
  bool transposed;
  /// A matrix of the operand has this many rows and columns, counted after it was transposed if
  /// need be.
  std::int64_t rows, columns;

  Layout(const Shape& shape, bool is_transposed)
      : transposed(is_transposed),
        rows(shape[is_transposed ? -1 : -2]),
        columns(shape[is_transposed ? -2 : -1]) {}

  ConstMatrix matrix(const float* data) const {
    return transposed ? ConstMatrix{data, 1, rows} : ConstMatrix{data, columns, 1};
  }
};

Layout layout_a(const Attributes& attributes, const Shape& shape) {
  return {shape, attribute::transpose_a.of(attributes)};
}
Layout layout_b(const Attributes& attributes, const Shape& shape) {
  return {shape, attribute::transpose_b.of(attributes)};
}

void expect_stack(const TensorType& type, std::string_view name) {
  expect_dtype(type, DType::f32, name);
  expect_rank_from(type, 2, name);
}

/// Returns the shape of the axes before the matrices.
Shape leading_shape(const Shape& shape) {
  return Shape(shape.dims().first(shape.rank() - 2));
}

std::vector<std::int64_t> common_leading_dims(const Shape& a, const Shape& b) {
  const std::optional<Shape> common = broadcast_shape(leading_shape(a), leading_shape(b));
  expect(common.has_value(), broadcast_refusal("a and b with leading dimensions that broadcast",
                                               "the last axis before the matrices", a, b));
  return {common->begin(), common->end()};
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "a, b");
  expect_stack(in[0], "a");
  expect_stack(in[1], "b");
  std::vector<std::int64_t> dims = common_leading_dims(in[0].shape, in[1].shape);
  const Layout a = layout_a(attributes, in[0].shape), b = layout_b(attributes, in[1].shape);
  expect(a.columns == b.rows,
         "expected b with " + std::to_string(a.columns) + " rows, got " + std::to_string(b.rows));
  dims.insert(dims.end(), {a.rows, b.columns});
  return {{DType::f32, Shape(dims)}};
}

/// Operands are the shapes of a and b as the product is computed. If all rows of all matrices of a
/// are multiplied with one matrix, a is that many rows of one matrix.
struct Operands {
  Shape a, b;
  bool folded;

  Operands(const Attributes& attributes, const Shape& of_a, const Shape& of_b)
      : a(of_a),
        b(of_b),
        folded(!attribute::transpose_a.of(attributes) && leading_shape(b).elements() == 1 &&
               a.elements() > 0 && b.elements() > 0) {
    if (!folded) return;
    a = {rows_of(a), a[-1]};
    b = {b[-2], b[-1]};
  }
};

std::int64_t workspace(const Attributes& attributes, Types in, Types) {
  const Operands shapes(attributes, in[0].shape, in[1].shape);
  const Layout a = layout_a(attributes, shapes.a), b = layout_b(attributes, shapes.b);
  return float_bytes * product_floats(a.rows, b.columns, a.columns);
}

/// Serves as Op::units: returns the number of units of all products. The units of the first product
/// come first, then those of the second one, and so on.
std::int64_t units(const Attributes& attributes, Types in, Types out) {
  const Operands shapes(attributes, in[0].shape, in[1].shape);
  const std::int64_t rows = layout_a(attributes, shapes.a).rows, columns = out[0].shape[-1];
  return rows * columns > 0
             ? out[0].shape.elements() / (rows * columns) * product_units(rows, columns)
             : 1;
}

/// Calls `visit(i, j, k)` for each product k, in their order, which is that of matrix i of a and of
/// matrix j of b.
void for_each_product(const Operands& shapes, const Shape& out, const auto& visit) {
  const Shape a = leading_shape(shapes.a), b = leading_shape(shapes.b);
  const Shape all = shapes.folded ? Shape{} : leading_shape(out);
  const StridedWalk<3> walk(
      all, {dense_strides(all), broadcast_strides(a, all), broadcast_strides(b, all)});
  walk.for_each_row([&, steps = walk.steps()](const auto& at) {
    for (std::int64_t n = 0; n < walk.length(); ++n)
      visit(at[1] + n * steps[1], at[2] + n * steps[2], at[0] + n);
  });
}

void forward(const KernelCall& call) {
  const Operands shapes(call.attributes, call.inputs[0].shape(), call.inputs[1].shape());
  const Layout a = layout_a(call.attributes, shapes.a), b = layout_b(call.attributes, shapes.b);
  const std::int64_t cells = a.rows * b.columns, own_units = product_units(a.rows, b.columns);
  if (cells == 0) return;
  for_each_product(shapes, call.outputs[0].shape(),
                   [&](std::int64_t i, std::int64_t j, std::int64_t k) {
                     const Part part = overlap(call.part, k * own_units, own_units);
                     if (empty(part)) return;
                     const Product product{
                         .rows = a.rows,
                         .columns = b.columns,
                         .depth = a.columns,
                         .left = a.matrix(call.inputs[0].f32().data() + i * a.rows * a.columns),
                         .right = b.matrix(call.inputs[1].f32().data() + j * b.rows * b.columns),
                         .result = call.outputs[0].f32().data() + k * cells};
                     kernel_table().products.multiply(product, part, floats(call.workspace));
                   });
}

ValueId emit_product(GradientContext& context, ValueId a, bool transpose_a, ValueId b,
                     bool transpose_b) {
  return context.emit(
      matmul, {a, b},
      {{"transpose_a", std::int64_t{transpose_a}}, {"transpose_b", std::int64_t{transpose_b}}});
}

ValueId reshaped(GradientContext& context, ValueId value, const Shape& shape) {
  if (context.type(value).shape == shape) return value;
  return context.emit(reshape, {value},
                      {{"shape", std::vector<std::int64_t>(shape.begin(), shape.end())}});
}

/// Emits the gradient of b, summed over the matrices of a that b was multiplied with.
ValueId gradient_of_b(GradientContext& context, bool ta, bool tb) {
  ValueId a = context.input(0), dc = context.gradient(0);
  const Shape b = context.type(context.input(1)).shape;
  const Operands shapes(context.attributes(), context.type(a).shape, b);
  if (shapes.folded) {
    a = reshaped(context, a, shapes.a);
    dc = reshaped(context, dc, {shapes.a[0], context.type(dc).shape[-1]});
  }
  const ValueId db =
      tb ? emit_product(context, dc, true, a, ta) : emit_product(context, a, !ta, dc, false);
  return shapes.folded ? reshaped(context, db, b) : reduced_to_input(context, db, 1);
}

/// Emits the gradients of a and b. Let C = A·B, where A is a, or a transposed if transpose_a is
/// set, and B is b, or b transposed if transpose_b is set. Then dA = dC·Bᵀ and dB = Aᵀ·dC; the
/// gradient of an operand that is transposed is the transposed product.
void backward(GradientContext& context) {
  const ValueId b = context.input(1), dc = context.gradient(0);
  const bool ta = attribute::transpose_a.of(context.attributes());
  const bool tb = attribute::transpose_b.of(context.attributes());
  if (context.needs(0)) {
    const ValueId da =
        ta ? emit_product(context, b, tb, dc, true) : emit_product(context, dc, false, b, !tb);
    context.set(0, reduced_to_input(context, da, 0));
  }
  if (context.needs(1)) context.set(1, gradient_of_b(context, ta, tb));
}

Cost cost(const Attributes& attributes, Types in, Types out) {
  const auto depth = static_cast<double>(layout_a(attributes, in[0].shape).columns);
  return {.flops = 2 * depth * static_cast<double>(out[0].shape.elements()),
          .bytes = static_cast<double>(in[0].bytes() + in[1].bytes() + out[0].bytes())};
}

std::vector<OpSample> samples() {
  const TensorType a{DType::f32, {2, 3, 4, 5}}, at{DType::f32, {2, 3, 5, 4}};
  const TensorType b{DType::f32, {2, 3, 5, 2}}, bt{DType::f32, {2, 3, 2, 5}};
  return {{.inputs = {a, b}},
          {.inputs = {at, b}, .attributes = {{"transpose_a", 1}}},
          {.inputs = {a, bt}, .attributes = {{"transpose_b", 1}}},
          {.inputs = {at, bt}, .attributes = {{"transpose_a", 1}, {"transpose_b", 1}}},
          {.inputs = {{DType::f32, {3, 4}}, {DType::f32, {4, 6}}}},
          {.inputs = {{DType::f32, {2, 3, 4, 5}}, {DType::f32, {5, 2}}}},
          {.inputs = {{DType::f32, {2, 1, 5, 4}}, {DType::f32, {3, 2, 5}}},
           .attributes = {{"transpose_a", 1}, {"transpose_b", 1}}},
          {.inputs = {{DType::f32, {3, 4, 5}}, {DType::f32, {1, 2, 5}}},
           .attributes = {{"transpose_b", 1}}},
          {.inputs = {{DType::f32, {1, 2, 3}}, {DType::f32, {4, 1, 3, 2}}}}};
}

}  // namespace

const Op matmul{.name = "matmul",
                .onnx = "MatMul",
                .attributes = {attribute::transpose_a, attribute::transpose_b},
                .infer = infer,
                .forward = forward,
                .backward = backward,
                .cost = cost,
                .workspace = workspace,
                .units = units,
                .samples = samples,
                .broadcasts = true};

}  // namespace penstock::graph
