// These functions write the arithmetic of elements.
#include <array>
#include <limits>

#include "engine/onnx/export/op_exports.hpp"
#include "graph/ir/op.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/elementary.hpp"
#include "graph/ops/arithmetic/power.hpp"
#include "graph/ops/casts/casts.hpp"
#include "graph/ops/losses/clipped_log.hpp"

namespace penstock {
namespace {

/// Writes a comparison, whose result is 0 or 1 in the model, and a bool in ONNX.
void comparison(NodeExport& n) {
  n.result_is(n.cast(n.add(std::string(n.node().op->onnx), n.inputs()), DType::f32));
}

void where(NodeExport& n) {
  n.result("Where", {n.cast(n.input(0), DType::boolean), n.input(1), n.input(2)});
}

void scale(NodeExport& n) {
  n.result("Mul", {n.input(0), n.number(n.attributes.real("factor", 1))});
}

void fill(NodeExport& n) {
  const double value = n.attributes.real("value");
  const Dims& shape = n.attributes.integers("shape");
  if (shape.empty()) return n.result_is(n.number(value));
  const Tensor element({1}, {static_cast<float>(value)});
  n.result("ConstantOfShape", {n.list(shape)}, {n.nodes().tensor_setting("value", element)});
}

void rsqrt(NodeExport& n) {
  n.result("Reciprocal", {n.add("Sqrt", n.inputs())});
}

void pow(NodeExport& n) {
  n.result("Pow", {n.input(0), n.number(n.attributes.real("exponent", 1))});
}

std::string clip(NodeExport& n, double low, double high) {
  return n.add("Clip", {n.input(0), n.number(low), n.number(high)});
}

void clamp(NodeExport& n) {
  using Limits = std::numeric_limits<float>;
  n.result("Clip", {n.input(0), n.number(n.attributes.real("low", double{Limits::lowest()})),
                    n.number(n.attributes.real("high", double{Limits::max()}))});
}

void clipped_log(NodeExport& n) {
  n.result("Log", {clip(n, n.attributes.real("low", 1e-7), n.attributes.real("high", 1 - 1e-7))});
}

/// Writes x·scale + shift. The constants are numbers, or belong to axis 1.
void to_float(NodeExport& n) {
  std::string y = n.cast(n.input(0), DType::f32);
  if (n.input_count() == 3) {
    Dims behind;
    for (std::int64_t axis = 1; axis < n.rank() - 1; ++axis) behind.push_back(axis);
    const auto constant = [&](std::size_t i) {
      return behind.empty() ? n.input(i) : n.unsqueezed(n.input(i), behind);
    };
    y = n.add("Mul", {y, constant(1)});
    return n.result("Add", {y, constant(2)});
  }
  const double factor = n.attributes.real("scale", 1), shift = n.attributes.real("shift");
  if (factor != 1) y = n.add("Mul", {y, n.number(factor)});
  if (shift != 0) y = n.add("Add", {y, n.number(shift)});
  n.result_is(y);
}

void to_i64(NodeExport& n) {
  n.result_is(n.cast(n.input(0), DType::i64));
}

/// Writes x as an index of an axis of `size` elements, of which a negative one counts from the end.
void to_index(NodeExport& n) {
  const std::string x = n.type().dtype == DType::i64 ? n.input(0) : n.cast(n.input(0), DType::i64);
  const auto scalar = [&](std::int64_t value) {
    return n.nodes().constant(Tensor({}, std::span<const std::int64_t>(&value, 1)));
  };
  const std::string from_end = n.add("Add", {x, scalar(n.attributes.integer("size"))});
  n.result("Where", {n.add("Less", {x, scalar(0)}), from_end, x});
}

}  // namespace

std::span<const OpExport> arithmetic_exports() {
  static constexpr std::array<OpExport, 32> exports{{
      {&graph::abs, write_same_operator},
      {&graph::add, write_same_operator},
      {&graph::ceil, write_same_operator},
      {&graph::clamp, clamp},
      {&graph::clipped_log, clipped_log},
      {&graph::cos, write_same_operator},
      {&graph::div, write_same_operator},
      {&graph::equal, comparison},
      {&graph::erf, write_same_operator},
      {&graph::exp, write_same_operator},
      {&graph::fill, fill},
      {&graph::floor, write_same_operator},
      {&graph::less, comparison},
      {&graph::less_equal, comparison},
      {&graph::log, write_same_operator},
      {&graph::maximum, write_same_operator},
      {&graph::minimum, write_same_operator},
      {&graph::mul, write_same_operator},
      {&graph::pow, pow},
      {&graph::power, write_same_operator},
      {&graph::reciprocal, write_same_operator},
      {&graph::round, write_same_operator},
      {&graph::rsqrt, rsqrt},
      {&graph::scale, scale},
      {&graph::sign, write_same_operator},
      {&graph::sin, write_same_operator},
      {&graph::sqrt, write_same_operator},
      {&graph::sub, write_same_operator},
      {&graph::to_float, to_float},
      {&graph::to_i64, to_i64},
      {&graph::to_index, to_index},
      {&graph::where, where},
  }};
  return exports;
}

}  // namespace penstock
