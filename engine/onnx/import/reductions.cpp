// The operators that reduce axes, and those that find extrema along one.
#include "graph/ops/arithmetic/reductions.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "engine/onnx/import/operators.hpp"
#include "engine/onnx/shapes/reshaped_dims.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/cumsum.hpp"
#include "graph/ops/arithmetic/elementary.hpp"
#include "graph/ops/arithmetic/logsumexp.hpp"
#include "graph/ops/arithmetic/prod.hpp"
#include "graph/ops/arithmetic/vector_norm.hpp"
#include "graph/ops/movement/index_select.hpp"
#include "graph/ops/movement/slices.hpp"
#include "graph/ops/order/argmax.hpp"
#include "graph/ops/order/sort.hpp"

namespace penstock {
namespace {

/// Returns the axes that the node reduces, in order, each counted from the front.
std::vector<std::size_t> reduced_axes(const NodeImport& n) {
  const std::size_t rank = n.rank(0);
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : n.integers("axes", 1)) axes.push_back(axis_of(axis, rank));
  if (axes.empty() && !n.flag("noop_with_empty_axes")) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), std::size_t{0});
  }
  std::ranges::sort(axes);
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

/// Returns where the samples are behind a reduction of `axes`, none of which has samples.
std::optional<Placement> placement_without(const Imported& x, const std::vector<std::size_t>& axes,
                                           bool keep) {
  std::optional<Placement> placement = x.placement;
  if (placement && !placement->whole && !keep)
    placement->axis -= static_cast<std::size_t>(
        std::ranges::count_if(axes, [&](std::size_t axis) { return axis < x.placement->axis; }));
  return placement;
}

template <const graph::Op& op>
Imported reduced(const NodeImport& n, const Value& x, graph::Attributes attributes = {}) {
  const std::vector<std::size_t> axes = reduced_axes(n);
  const bool keep = n.flag("keepdims", true);
  if (axes.empty()) return n.like_first(x);
  Dims of_value;
  for (const std::size_t axis : axes)
    of_value.push_back(n.network.axis_of_value(n.input(0), static_cast<std::int64_t>(axis)));
  attributes.set("axes", of_value).set("keep", std::int64_t{keep});
  return n.result(n.apply(op, {x}, std::move(attributes)), n.input(0).type,
                  placement_without(n.input(0), axes, keep));
}

template <const graph::Op& op>
Results reduction(NodeImport& n) {
  return {reduced<op>(n, n.value(0))};
}

Results reduce_l1(NodeImport& n) {
  return {reduced<graph::sum>(n, n.apply(graph::abs, {n.value(0)}))};
}

Results reduce_l2(NodeImport& n) {
  if (reduced_axes(n).empty()) return {n.like_first(n.apply(graph::abs, {n.value(0)}))};
  return {reduced<graph::vector_norm>(n, n.value(0), {{"p", 2.0}})};
}

Results reduce_log_sum(NodeImport& n) {
  Imported sum = reduced<graph::sum>(n, n.value(0));
  sum.value = n.apply(graph::log, {sum.value});
  return {sum};
}

Results reduce_sum_square(NodeImport& n) {
  const Value x = n.value(0);
  return {reduced<graph::sum>(n, n.apply(graph::mul, {x, x}))};
}

/// Finds the first extremum along an axis, or the last one with the flag `select_last_index`.
template <const graph::Op& op>
Results extremum(NodeImport& n) {
  Imported& x = n.input(0);
  const std::int64_t axis = n.integer("axis", 0);
  const std::int64_t of_value = n.network.axis_of_value(x, axis);
  const bool keep = n.flag("keepdims", true), last = n.flag("select_last_index");
  const std::size_t number = axis_of(axis, n.rank(0));
  const std::int64_t size = n.dims(0)[number];
  Value values = n.value(0);
  if (last) {
    n.count_list(size);
    Dims backwards(static_cast<std::size_t>(size));
    std::iota(backwards.rbegin(), backwards.rend(), std::int64_t{0});
    values = n.apply(graph::index_select, {values}, {{"axis", of_value}, {"indices", backwards}});
  }
  Value found = n.apply(op, {values}, {{"axis", of_value}, {"keep", std::int64_t{keep}}});
  if (last) {
    Imported from_end = n.result(found, OnnxType::i64, {});
    found = n.apply(graph::sub,
                    {n.network.number(static_cast<double>(size - 1)), n.network.value(from_end)});
  }
  return {n.result(found, OnnxType::i64, placement_without(x, {number}, keep))};
}

/// Without its own element, a sum is that of the elements that are moved by one place.
Results cumsum(NodeImport& n) {
  const auto axis = static_cast<std::int64_t>(n.known_number(1));
  const std::int64_t of_value = n.network.axis_of_value(n.input(0), axis);
  const std::int64_t reverse = n.flag("reverse") ? 1 : 0;
  Value x = n.value(0);
  if (n.flag("exclusive")) {
    const std::int64_t size = n.dims(0)[axis_of(axis, n.rank(0))];
    x = n.apply(graph::pad, {x}, {{"axis", of_value}, {"before", 1 - reverse}, {"after", reverse}});
    x = n.apply(graph::slice, {x},
                {{"axis", of_value}, {"begin", reverse}, {"end", size + reverse}});
  }
  return {n.like_first(n.apply(graph::cumsum, {x}, {{"axis", of_value}, {"reverse", reverse}}))};
}

Results top_k(NodeImport& n) {
  const std::int64_t axis = n.network.axis_of_value(n.input(0), n.integer("axis", -1));
  const std::int64_t count =
      n.opset < 10 ? n.integer("k", 1) : static_cast<std::int64_t>(n.known_number(1));
  const Value values =
      n.apply(graph::sort, {n.value(0)},
              {{"axis", axis}, {"descending", n.integer("largest", 1)}, {"count", count}});
  return {n.like_first(values),
          n.result(n.network.other_output(values, 1), OnnxType::i64, n.input(0).placement)};
}

}  // namespace

std::span<const OnnxOperator> reduction_operators() {
  static constexpr std::array<OnnxOperator, 14> operators{{
      {"ArgMax", extremum<graph::argmax>},
      {"ArgMin", extremum<graph::argmin>},
      {"CumSum", cumsum},
      {"ReduceL1", reduce_l1},
      {"ReduceL2", reduce_l2},
      {"ReduceLogSum", reduce_log_sum},
      {"ReduceLogSumExp", reduction<graph::logsumexp>},
      {"ReduceMax", reduction<graph::amax>},
      {"ReduceMean", reduction<graph::mean>},
      {"ReduceMin", reduction<graph::amin>},
      {"ReduceProd", reduction<graph::prod>},
      {"ReduceSum", reduction<graph::sum>},
      {"ReduceSumSquare", reduce_sum_square},
      {"TopK", top_k},
  }};
  return operators;
}

}  // namespace penstock
