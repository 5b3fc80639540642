// These functions write the products of matrices.
#include <array>
#include <numeric>
#include <utility>

#include "engine/onnx/export/op_exports.hpp"
#include "graph/ops/arithmetic/linear.hpp"
#include "graph/ops/arithmetic/matmul.hpp"

namespace penstock {
namespace {

/// Returns input number `i` with its last two axes exchanged.
std::string with_turned_matrices(NodeExport& n, std::size_t i) {
  Dims order(static_cast<std::size_t>(n.rank(i)));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return n.transposed(n.input(i), order);
}

void matmul(NodeExport& n) {
  const auto operand = [&](std::size_t i, const char* flag) {
    return n.attributes.flag(flag) ? with_turned_matrices(n, i) : n.input(i);
  };
  n.result("MatMul", {operand(0, "transpose_a"), operand(1, "transpose_b")});
}

/// Writes x·weightᵀ + bias: a Gemm for matrices, and a MatMul and an Add for more axes.
void linear(NodeExport& n) {
  const bool has_relu = n.attributes.flag("relu");
  std::string y;
  if (n.rank() == 2) {
    y = n.add("Gemm", n.inputs(), {integer_setting("transB", 1)});
  } else {
    y = n.add("MatMul", {n.input(0), with_turned_matrices(n, 1)});
    if (n.input_count() == 3) y = n.add("Add", {y, n.input(2)});
  }
  n.result_is(has_relu ? n.add("Relu", {y}) : y);
}

}  // namespace

std::span<const OpExport> matrix_exports() {
  static constexpr std::array<OpExport, 2> exports{{
      {&graph::linear, linear},
      {&graph::matmul, matmul},
  }};
  return exports;
}

}  // namespace penstock
