#include "engine/sample_axes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "graph/ir/op.hpp"
#include "graph/ops/arithmetic/matmul.hpp"
#include "graph/ops/rules/strided.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Returns `graph` for micro-batches of `samples` samples.
graph::Graph with_samples(const graph::Graph& graph, std::int64_t samples) try {
  return graph::with_batch(graph, samples);
} catch (const Error& error) {
  throw Error(error.code(),
              "model " + quoted_text(graph.name) + ": with " + std::to_string(samples) +
                  " samples in a micro-batch, which axis 0 of each input counts: " + error.what());
}

/// A SampleAxes knows a graph for two numbers of samples: a size that differs counts samples.
class SampleAxes {
 public:
  explicit SampleAxes(const graph::Graph& graph)
      : graphs_{with_samples(graph, 2), with_samples(graph, 3)} {}

  const graph::Graph& graph() const { return graphs_[0]; }
  const std::array<graph::Graph, 2>& graphs() const { return graphs_; }

  const Shape& shape(graph::ValueId value) const { return graphs_[0].type(value).shape; }

  std::size_t rank(graph::ValueId value) const { return shape(value).rank(); }

  /// Returns whether `axis` of `value` counts samples.
  bool counts(graph::ValueId value, std::size_t axis) const {
    const Shape &a = shape(value), &b = graphs_[1].type(value).shape;
    return axis < a.rank() && a.begin()[axis] != b.begin()[axis];
  }

  /// Returns whether any axis of `value` counts samples.
  bool counts_any(graph::ValueId value) const {
    return shape(value) != graphs_[1].type(value).shape;
  }

  /// Returns the shape of `value` with N for the number of samples, as in [N,3].
  std::string text(graph::ValueId value) const {
    std::string result = "[";
    for (std::size_t axis = 0; axis < shape(value).rank(); ++axis)
      result +=
          (axis > 0 ? "," : "") +
          (counts(value, axis) ? std::string("N") : std::to_string(shape(value).begin()[axis]));
    return result + "]";
  }

 private:
  std::array<graph::Graph, 2> graphs_;
};

/// Returns how many of the last axes of the node's inputs are those of matrices.
std::size_t axes_of_matrix(const graph::Node& node) {
  return node.op == &graph::matmul ? 2 : 0;
}

/// Returns whether an input of the node that has more axes than `input` counts samples along axis
/// number `axis` of the node's output.
bool longer_counts(const SampleAxes& axes, const graph::Node& node, graph::ValueId input,
                   std::size_t axis) {
  const std::size_t rank = axes.rank(node.outputs[0]);
  return std::ranges::any_of(node.inputs, [&](graph::ValueId other) {
    const std::size_t missing = rank - axes.rank(other);
    return axes.rank(other) > axes.rank(input) && axis >= missing &&
           axes.counts(other, axis - missing);
  });
}

/// Returns the text of a permutation of `rank` axes that swaps axis 0 and `axis`, as in {1, 0, 2}.
std::string swap_text(std::size_t rank, std::size_t axis) {
  std::string text = "{" + std::to_string(axis);
  for (std::size_t i = 1; i < rank; ++i) text += ", " + std::to_string(i == axis ? 0 : i);
  return text + "}";
}

/// Returns the text of v with `count` axes of 1 behind axis 0, as in unsqueeze(unsqueeze(v, 1), 1).
std::string unsqueezed_text(std::size_t count) {
  std::string text = "v";
  while (count-- > 0) text = "unsqueeze(" + text + ", 1)";
  return text;
}

/// Returns whether the node's inputs broadcast for each number of samples if `input` has `added`
/// axes of 1 behind axis 0.
bool broadcast_with(const SampleAxes& axes, const graph::Node& node, graph::ValueId input,
                    std::size_t added) {
  return std::ranges::all_of(axes.graphs(), [&](const graph::Graph& graph) {
    std::optional<Shape> common = Shape();
    for (const graph::ValueId each : node.inputs) {
      const auto all = graph.type(each).shape.dims();
      std::vector<std::int64_t> dims(all.begin(),
                                     all.end() - static_cast<std::ptrdiff_t>(axes_of_matrix(node)));
      if (each == input) dims.insert(dims.begin() + 1, added, 1);
      common = graph::broadcast_shape(*common, Shape(dims));
      if (!common) return false;
    }
    return true;
  });
}

std::size_t longest_rank(const SampleAxes& axes, const graph::Node& node) {
  std::size_t longest = 0;
  for (const graph::ValueId input : node.inputs) longest = std::max(longest, axes.rank(input));
  return longest;
}

/// Returns which axes of 1 let `input`, whose axis 0 counts samples, keep that axis in front of the
/// result, or an empty text if none do.
std::string advice_on_axes(const SampleAxes& axes, const graph::Node& node, graph::ValueId input) {
  const std::size_t rank = axes.rank(input), missing = longest_rank(axes, node) - rank;
  for (std::size_t added = missing; added <= missing + 1; ++added)
    if (rank + added <= Shape::max_rank && broadcast_with(axes, node, input, added))
      return "; with v for the value of shape " + axes.text(input) + ", " + unsqueezed_text(added) +
             " keeps the samples on axis 0";
  return "";
}

std::string input_texts(const SampleAxes& axes, const graph::Node& node) {
  return joined(
      node.inputs, [&](graph::ValueId input) { return axes.text(input); }, " and ");
}

/// Returns whether axis 0 of `input` counts samples, and is not an axis of matrices.
bool counts_first(const SampleAxes& axes, const graph::Node& node, graph::ValueId input) {
  return axes.rank(input) > axes_of_matrix(node) && axes.counts(input, 0);
}

/// Returns what pairs each sample of the value v, which is `input`, with itself, or an empty text
/// if nothing that is done to v alone would. Axis 0 of v would be axis number `place` of the node's
/// output. If a longer operand counts samples along an axis before `place`, axis 0 of v gets there
/// by axes of 1 behind it. If the longer operand counts them along an axis behind `place`, along
/// which v counts none and thus has the size 1, v swaps that axis with axis 0.
std::string advice_on_pairs(const SampleAxes& axes, const graph::Node& node, graph::ValueId input,
                            std::size_t place) {
  for (std::size_t before = 0; before < place; ++before)
    if (longer_counts(axes, node, input, before)) return unsqueezed_text(place - before);
  const std::size_t rank = axes.rank(input);
  for (std::size_t axis = 1; axis + axes_of_matrix(node) < rank; ++axis)
    if (!axes.counts(input, axis) && longer_counts(axes, node, input, place + axis))
      return "transpose(v, " + swap_text(rank, axis) + ")";
  return "";
}

/// Returns what to do about `input`, whose axis 0 counts samples and would be axis number `place`
/// of the node's output, behind other axes.
std::string advice(const SampleAxes& axes, const graph::Node& node, graph::ValueId input,
                   std::size_t place) {
  const std::size_t rank = axes.rank(input);
  // Among several operands of the most axes, one that counts samples is taken.
  const auto order = [&](graph::ValueId value) {
    return std::pair(axes.rank(value), axes.counts_any(value));
  };
  const graph::ValueId longest = *std::ranges::max_element(node.inputs, {}, order);
  if (!axes.counts_any(longest))
    return axes.text(longest) + " has no axis of samples, and has to have fewer axes than " +
           axes.text(input) + ", or as many with a first one of size 1" +
           advice_on_axes(axes, node, input);
  const std::string itself = advice_on_pairs(axes, node, input, place);
  return "with v for the value of that shape, " +
         (itself.empty() ? "" : itself + " pairs each sample with itself, and ") +
         "transpose(unsqueeze(v, 1), " + swap_text(rank + 1, 1) +
         ") pairs each sample with all samples";
}

/// Checks that the node, which broadcasts its inputs, puts the axis of the samples of none of them
/// behind others, unless it meets an axis that counts samples there. Only an operand of more axes
/// has such an axis: samples of operands of the same rank would together lie behind other axes.
void check_broadcast(const SampleAxes& axes, const graph::Node& node) {
  for (const graph::ValueId input : node.inputs) {
    const std::size_t place = axes.rank(node.outputs[0]) - axes.rank(input);
    if (place == 0 || !counts_first(axes, node, input) || longer_counts(axes, node, input, place))
      continue;
    throw Error(Errc::shape_mismatch,
                "model " + quoted_text(axes.graph().name) + ": " + to_string(node) +
                    ": expected operands of as many axes as the result, for axis 0 counts samples, "
                    "got " +
                    input_texts(axes, node) + ": axis 0 of " + axes.text(input) +
                    " would lie behind other axes; " + advice(axes, node, input, place));
  }
}

void check_broadcasts(const SampleAxes& axes) {
  for (const graph::Node& node : axes.graph().nodes)
    if (node.op->broadcasts) check_broadcast(axes, node);
}

/// Checks that the inputs of the node, which broadcasts them, broadcast for each number of samples.
void check_shapes(const SampleAxes& axes, const graph::Node& node) {
  if (broadcast_with(axes, node, graph::none, 0)) return;
  std::string advice;
  for (const graph::ValueId input : node.inputs)
    if (advice.empty() && counts_first(axes, node, input))
      advice = advice_on_axes(axes, node, input);
  throw Error(Errc::shape_mismatch,
              "model " + quoted_text(axes.graph().name) + ": " + to_string(node) +
                  ": expected shapes that broadcast for any number N of samples, got " +
                  input_texts(axes, node) + "; counted from the last axis" +
                  (axes_of_matrix(node) > 0 ? " before the matrices" : "") +
                  ", sizes have to be equal or 1" + advice);
}

graph::Graph first_nodes(graph::Graph graph, std::size_t count) {
  graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(count), graph.nodes.end());
  return graph;
}

/// Returns what is known of `graph`, unless one of its nodes does not take some number of samples.
std::optional<SampleAxes> known_axes(const graph::Graph& graph) try {
  return SampleAxes(graph);
} catch (const Error&) {
  return std::nullopt;
}

/// Throws Error for `graph`, one of whose nodes does not take some number of samples.
void refuse(const graph::Graph& graph) {
  const auto takes_all = [&](std::size_t count) {
    return known_axes(first_nodes(graph, count)).has_value();
  };
  const auto counts = std::views::iota(std::size_t{0}, graph.nodes.size());
  const std::size_t node = *std::ranges::partition_point(
      counts, [&](std::size_t before) { return takes_all(before + 1); });
  const SampleAxes axes(first_nodes(graph, node));
  check_broadcasts(axes);
  if (graph.nodes[node].op->broadcasts) check_shapes(axes, graph.nodes[node]);
  SampleAxes whole(graph);  // This throws what the node says.
}

}  // namespace

void check_sample_axes(const graph::Graph& graph) {
  if (const auto axes = known_axes(graph))
    check_broadcasts(*axes);
  else
    refuse(graph);
}

}  // namespace penstock
