// The operators that take elements by indices, and those that put elements around a tensor.
#include <algorithm>
#include <array>
#include <numeric>

#include "engine/onnx/folding/elements.hpp"
#include "engine/onnx/folding/fold_call.hpp"
#include "engine/onnx/folding/places.hpp"
#include "engine/onnx/import/operators.hpp"
#include "engine/onnx/shapes/reshaped_dims.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/indexing/gather.hpp"
#include "graph/ops/movement/index_select.hpp"
#include "graph/ops/movement/slices.hpp"
#include "graph/ops/movement/triangles.hpp"
#include "graph/ops/sequences/embedding.hpp"
#include "graph/values/text.hpp"

namespace penstock {
namespace {

/// Returns known indices along an axis of `size` elements, counted from the front.
Dims counted_indices(const NodeImport& n, std::size_t i, std::int64_t size) {
  Dims indices = n.known_integers(i);
  for (std::int64_t& index : indices) {
    if (index < -size || index >= size)
      n.expect(false, "expected an index from " + std::to_string(-size) + " to " +
                          std::to_string(size - 1) + ", got " + std::to_string(index));
    if (index < 0) index += size;
  }
  return indices;
}

/// Takes elements by known indices.
Imported gather_known(NodeImport& n, std::int64_t axis) {
  Imported& x = n.input(0);
  const std::size_t number = axis_of(axis, n.rank(0));
  const ProbedDims dims = n.network.dims(x);
  if (n.known(1).known[0].elements() > 1) n.count_list(n.known(1).known[0].elements());
  const Dims indices = counted_indices(n, 1, dims[0][number]);
  n.expect_supported(!indices.empty(), "its result has no elements");
  const Value value_of_x = x.is_known() ? n.network.value(x) : x.value;
  const std::int64_t of_value = n.network.axis_of_value(x, axis);
  Imported taken = n.like_first(
      indices.size() == 1
          ? n.apply(graph::slice, {value_of_x},
                    {{"axis", of_value}, {"begin", indices[0]}, {"end", indices[0] + 1}})
          : n.apply(graph::index_select, {value_of_x}, {{"axis", of_value}, {"indices", indices}}));
  const Dims of_indices = n.dims(1);
  ProbedDims to = dims;
  for (Dims& result : to) {
    const auto place = result.erase(result.begin() + static_cast<std::ptrdiff_t>(number));
    result.insert(place, of_indices.begin(), of_indices.end());
  }
  return n.network.reshaped(taken, to);
}

/// Looks up rows of a table that does not depend on samples, by indices that do. A row has all axes
/// of the table but the first.
Imported look_up(NodeImport& n) {
  Imported& ids = n.input(1);
  const Dims table = n.dims(0);
  const Value rows = n.network.reshaped_value(
      n.raw(0), {table[0], Shape(table).elements() / std::max<std::int64_t>(table[0], 1)});
  // The ids of a model that is trained are checked, and negative ones are refused.
  const bool are_given =
      !n.network.is_run() && !ids.is_known() && n.network.type(ids.value).dtype != DType::f32;
  const Value index = are_given ? ids.value : n.network.indices(ids, table[0]);
  Imported taken =
      n.result(n.apply(graph::embedding, {rows, index}), n.input(0).type, ids.placement);
  ProbedDims to = n.network.dims(ids);
  for (Dims& dims : to) dims.insert(dims.end(), table.begin() + 1, table.end());
  return n.network.reshaped(taken, to);
}

Results gather(NodeImport& n) {
  const std::int64_t axis = n.integer("axis", 0);
  if (n.input(1).is_known()) return {gather_known(n, axis)};
  if (axis_of(axis, n.rank(0)) != 0) return {(n.known(1), gather_known(n, axis))};
  n.raw(0);
  return {look_up(n)};
}

Results gather_elements(NodeImport& n) {
  Imported &x = n.input(0), &index = n.input(1);
  const std::int64_t axis = n.network.axis_of_value(x, n.integer("axis", 0));
  if (!x.placement != !index.placement || (x.placement && *x.placement != *index.placement))
    throw MixedSamples{"its indices have their samples along other axes than the elements"};
  const std::int64_t size = n.dims(0).at(axis_of(n.integer("axis", 0), n.rank(0)));
  const Value indices = n.network.indices(index, size);
  return {n.like_first(n.apply(graph::gather, {n.value(0), indices}, {{"axis", axis}}))};
}

/// Returns 0 to `count` - 1 as floats.
Tensor counted(std::int64_t count) {
  return filled(DType::f32, Shape({count}),
                [](const Dims& index) { return static_cast<double>(index[0]); });
}

/// Returns on at the place that the index gives, and off elsewhere, along a new axis. A negative
/// index counts from the end, and one that is outside of the axis is no place.
Results one_hot(NodeImport& n) {
  const auto depth = static_cast<std::int64_t>(n.known_number(1));
  const Imported& values = n.known(2);
  const Tensor& off_and_on = NetworkImport::settled(values);
  n.expect(off_and_on.elements() == 2, "expected two values, off and on");
  n.expect_supported(depth >= 1, "its depth is " + std::to_string(depth));
  n.count_floats(depth);
  const std::vector<double> numbers = numbers_of(off_and_on);
  const std::size_t rank = n.rank(0);
  const std::size_t axis = axis_of(n.integer("axis", -1), rank + 1);
  ProbedDims dims = n.network.dims(n.input(0));
  for (Dims& each : dims) each.push_back(1);
  Imported ids = n.network.reshaped(n.input(0), dims);
  const Value index = n.network.value(ids);
  const Value from_end = n.apply(graph::add, {index, n.network.number(static_cast<double>(depth))});
  const Value is_negative = n.apply(graph::less, {index, n.network.number(0)});
  Imported places = NetworkImport::constant(counted(depth), OnnxType::f32);
  const Value here = n.apply(graph::equal, {n.apply(graph::where, {is_negative, from_end, index}),
                                            n.network.value(places)});
  Imported result = n.result(
      n.apply(graph::add, {n.apply(graph::scale, {here}, {{"factor", numbers[1] - numbers[0]}}),
                           n.network.number(numbers[0])}),
      values.type, ids.placement);
  Dims order(rank);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<std::int64_t>(rank));
  return {n.network.transposed(result, order)};
}

PadMode pad_mode(const NodeImport& n) {
  const std::string mode = n.text("mode", "constant");
  if (mode == "reflect") return PadMode::reflect;
  if (mode == "edge") return PadMode::replicate;
  n.expect_supported(mode == "constant", "its mode " + quoted_text(mode) + " has no counterpart");
  return PadMode::constant;
}

/// Returns how many elements are put before each axis, and then how many behind each.
Dims pad_widths(NodeImport& n) {
  const std::size_t rank = n.rank(0);
  const Dims amounts = n.opset < 11 ? n.integers("pads") : n.known_integers(1);
  Dims axes(rank);
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  if (n.opset >= 18 && n.has(3)) axes = n.known_integers(3);
  n.expect(amounts.size() == 2 * axes.size(), "expected two widths for each axis");
  Dims widths(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = axis_of(axes[i], rank);
    widths[axis] = amounts[i];
    widths[axis + rank] = amounts[i + axes.size()];
  }
  return widths;
}

/// Puts elements around x, or takes them away where a width is negative.
Results pad(NodeImport& n) {
  Imported x = n.input(0);
  const std::size_t rank = n.rank(0);
  const Dims widths = pad_widths(n);
  const double number = n.opset < 11 ? n.real("value", 0) : n.has(2) ? n.known_number(2) : 0;
  const PadMode mode = pad_mode(n);
  Value value_of_x = n.value(0);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    std::int64_t before = widths[axis], after = widths[axis + rank];
    if (before == 0 && after == 0) continue;
    const std::int64_t of_value = n.network.axis_of_value(x, static_cast<std::int64_t>(axis));
    const std::int64_t size = n.network.shape(value_of_x)[static_cast<std::size_t>(of_value)];
    if (before < 0 || after < 0) {
      value_of_x = n.apply(graph::slice, {value_of_x},
                           {{"axis", of_value},
                            {"begin", std::max<std::int64_t>(0, -before)},
                            {"end", size - std::max<std::int64_t>(0, -after)}});
      before = std::max<std::int64_t>(before, 0);
      after = std::max<std::int64_t>(after, 0);
    }
    const auto value_rank = static_cast<std::int64_t>(n.network.shape(value_of_x).size());
    Dims of_last(static_cast<std::size_t>(2 * (value_rank - of_value)), 0);
    of_last[of_last.size() - 2] = before;
    of_last[of_last.size() - 1] = after;
    if (of_value == 0)
      value_of_x =
          n.apply(graph::pad, {value_of_x},
                  {{"axis", of_value}, {"before", before}, {"after", after}, {"value", number}});
    else
      value_of_x = n.network.model().pad(value_of_x, of_last, {.mode = mode, .value = number});
  }
  return {n.like_first(value_of_x)};
}

Results trilu(NodeImport& n) {
  const std::int64_t diagonal = n.has(1) ? static_cast<std::int64_t>(n.known_number(1)) : 0;
  const std::size_t rank = n.rank(0);
  n.expect(rank >= 2, "expected an input of two axes or more");
  for (const std::int64_t axis : {-1, -2}) n.network.axis_of_value(n.input(0), axis);
  const graph::Op& op = n.flag("upper", true) ? graph::triu : graph::tril;
  return {n.like_first(n.apply(op, {n.value(0)}, {{"diagonal", diagonal}}))};
}

}  // namespace

std::span<const OnnxOperator> selection_operators() {
  static constexpr std::array<OnnxOperator, 5> operators{{
      {"Gather", gather},
      {"GatherElements", gather_elements},
      {"OneHot", one_hot},
      {"Pad", pad},
      {"Trilu", trilu},
  }};
  return operators;
}

}  // namespace penstock
