#include "graph/ops/arithmetic/matmul.hpp"

#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/kernels/products/units.hpp"
#include "graph/kernels/products/workspace.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"

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
  expect(type.shape.rank() >= 2,
         "expected " + std::string(name) + " of rank 2 or more, got " + to_string(type));
}

void expect_same_batch(const Shape& a, const Shape& b) {
  const auto batch = [](const Shape& shape) { return Shape(shape.dims().first(shape.rank() - 2)); };
  expect(batch(a) == batch(b), "expected a and b with the same leading dimensions, got " +
                                   to_string(a) + " and " + to_string(b));
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "a, b");
  expect_stack(in[0], "a");
  expect_stack(in[1], "b");
  expect_same_batch(in[0].shape, in[1].shape);
  const Layout a = layout_a(attributes, in[0].shape), b = layout_b(attributes, in[1].shape);
  expect(a.columns == b.rows,
         "expected b with " + std::to_string(a.columns) + " rows, got " + std::to_string(b.rows));
  return {{DType::f32, in[0].shape.with(-2, a.rows).with(-1, b.columns)}};
}

std::int64_t workspace(const Attributes& attributes, Types in, Types out) {
  return float_bytes * product_floats(out[0].shape[-2], out[0].shape[-1],
                                      layout_a(attributes, in[0].shape).columns);
}

/// Serves as Op::units: returns the number of units of all products. The units of the first product
/// come first, then those of the second one, and so on.
std::int64_t units(const Attributes&, Types, Types out) {
  const std::int64_t rows = out[0].shape[-2], columns = out[0].shape[-1];
  return rows * columns > 0
             ? out[0].shape.elements() / (rows * columns) * product_units(rows, columns)
             : 1;
}

void forward(const KernelCall& call) {
  const Layout a = layout_a(call.attributes, call.inputs[0].shape());
  const Layout b = layout_b(call.attributes, call.inputs[1].shape());
  const std::int64_t cells = a.rows * b.columns;
  const std::int64_t count = cells > 0 ? call.outputs[0].elements() / cells : 0;
  Product product{.rows = a.rows,
                  .columns = b.columns,
                  .depth = a.columns,
                  .left = a.matrix(call.inputs[0].f32().data()),
                  .right = b.matrix(call.inputs[1].f32().data()),
                  .result = call.outputs[0].f32().data()};
  const std::int64_t own_units = product_units(a.rows, b.columns);
  for (std::int64_t i = 0; i < count; ++i) {
    const Part part = overlap(call.part, i * own_units, own_units);
    if (!empty(part)) kernel_table().products.multiply(product, part, floats(call.workspace));
    product.left.data += a.rows * a.columns;
    product.right.data += b.rows * b.columns;
    product.result += cells;
  }
}

ValueId emit_product(GradientContext& context, ValueId a, bool transpose_a, ValueId b,
                     bool transpose_b) {
  return context.emit(
      matmul, {a, b},
      {{"transpose_a", std::int64_t{transpose_a}}, {"transpose_b", std::int64_t{transpose_b}}});
}

/// Emits the gradients of a and b. Let C = A·B, where A is a, or a transposed if transpose_a is
/// set, and B is b, or b transposed if transpose_b is set. Then dA = dC·Bᵀ and dB = Aᵀ·dC; the
/// gradient of an operand that is transposed is the transposed product.
void backward(GradientContext& context) {
  const ValueId a = context.input(0), b = context.input(1), dc = context.gradient(0);
  const bool ta = attribute::transpose_a.of(context.attributes());
  const bool tb = attribute::transpose_b.of(context.attributes());
  if (context.needs(0))
    context.set(
        0, ta ? emit_product(context, b, tb, dc, true) : emit_product(context, dc, false, b, !tb));
  if (context.needs(1))
    context.set(
        1, tb ? emit_product(context, dc, true, a, ta) : emit_product(context, a, !ta, dc, false));
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
          {.inputs = {{DType::f32, {3, 4}}, {DType::f32, {4, 6}}}}};
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
                .samples = samples};

}  // namespace penstock::graph
