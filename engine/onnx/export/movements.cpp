// These functions write the ops that move elements, and change nothing of them.
#include <array>

#include "engine/onnx/export/op_exports.hpp"
#include "graph/ops/arithmetic/expand.hpp"
#include "graph/ops/movement/concat.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/movement/slices.hpp"
#include "graph/ops/movement/squeeze.hpp"
#include "graph/ops/movement/triangles.hpp"

namespace penstock {
namespace {

void identity(NodeExport& n) {
  n.result_is(n.input(0));
}

void reshape(NodeExport& n) {
  n.result_is(n.in_result_shape(n.input(0)));
}

void flatten(NodeExport& n) {
  const std::int64_t start = n.from_front(n.attributes.integer("start_axis", 1));
  const std::int64_t end = n.from_front(n.attributes.integer("end_axis", -1));
  if (start == 1 && end == n.rank() - 1)
    return n.result("Flatten", n.inputs(), {integer_setting("axis", 1)});
  n.result_is(n.in_result_shape(n.input(0)));
}

void transpose(NodeExport& n) {
  Dims order = n.attributes.integers("axes");
  for (std::int64_t& axis : order) axis = n.from_front(axis);
  n.result("Transpose", n.inputs(), {integers_setting("perm", order)});
}

void squeeze(NodeExport& n) {
  n.result("Squeeze", {n.input(0), n.list({n.axis(0)})});
}

void unsqueeze(NodeExport& n) {
  const std::int64_t axis = n.attributes.integer("axis");
  n.result("Unsqueeze", {n.input(0), n.list({axis < 0 ? axis + n.rank() + 1 : axis})});
}

/// Writes an expansion. In the model, -1 keeps a dimension, and in ONNX 1 does.
void expand(NodeExport& n) {
  Dims shape = n.attributes.integers("shape");
  for (std::int64_t& size : shape)
    if (size == -1) size = 1;
  n.result("Expand", {n.input(0), n.list(shape)});
}

void concat(NodeExport& n) {
  n.result("Concat", n.inputs(), {integer_setting("axis", n.axis(0))});
}

void slice(NodeExport& n) {
  n.result("Slice", {n.input(0), n.list({n.attributes.integer("begin")}),
                     n.list({n.attributes.integer("end")}), n.list({n.axis(0)})});
}

Tensor element_of(DType dtype, double value) {
  switch (dtype) {
    case DType::f32:
      return {{}, {static_cast<float>(value)}};
    case DType::i64: {
      const auto element = static_cast<std::int64_t>(value);
      return {{}, std::span<const std::int64_t>(&element, 1)};
    }
    case DType::i32: {
      const auto element = static_cast<std::int32_t>(value);
      return {{}, std::span<const std::int32_t>(&element, 1)};
    }
    case DType::u8: {
      const auto element = static_cast<std::uint8_t>(value);
      return {{}, std::span<const std::uint8_t>(&element, 1)};
    }
    case DType::boolean:
      break;
  }
  const bool element = value != 0;
  return {{}, std::span<const bool>(&element, 1)};
}

void pad(NodeExport& n) {
  const auto rank = static_cast<std::size_t>(n.rank());
  const auto axis = static_cast<std::size_t>(n.axis(0));
  Dims widths(2 * rank, 0);
  widths[axis] = n.attributes.integer("before");
  widths[axis + rank] = n.attributes.integer("after");
  const Tensor value = element_of(n.type().dtype, n.attributes.real("value"));
  n.result("Pad", {n.input(0), n.list(widths), n.nodes().constant(value)},
           {text_setting("mode", "constant")});
}

void triangle(NodeExport& n, bool upper) {
  const std::int64_t diagonal = n.attributes.integer("diagonal");
  n.result(
      "Trilu",
      {n.input(0), n.nodes().constant(Tensor({}, std::span<const std::int64_t>(&diagonal, 1)))},
      {integer_setting("upper", upper ? 1 : 0)});
}

void tril(NodeExport& n) {
  triangle(n, false);
}

void triu(NodeExport& n) {
  triangle(n, true);
}

}  // namespace

std::span<const OpExport> movement_exports() {
  static constexpr std::array<OpExport, 13> exports{{
      {&graph::concat, concat},
      {&graph::expand, expand},
      {&graph::flatten, flatten},
      {&graph::identity, identity},
      {&graph::pad, pad},
      {&graph::reshape, reshape},
      {&graph::slice, slice},
      {&graph::squeeze, squeeze},
      {&graph::stop_gradient, identity},
      {&graph::transpose, transpose},
      {&graph::tril, tril},
      {&graph::triu, triu},
      {&graph::unsqueeze, unsqueeze},
  }};
  return exports;
}

}  // namespace penstock
