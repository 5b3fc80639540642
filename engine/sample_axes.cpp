#include "engine/sample_axes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
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
    return axis < a.rank() && (axis >= b.rank() || a.begin()[axis] != b.begin()[axis]);
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

/// Returns the number of axes of the node's output.
std::size_t longest_rank(const SampleAxes& axes, const graph::Node& node) {
  std::size_t longest = 0;
  for (const graph::ValueId input : node.inputs) longest = std::max(longest, axes.rank(input));
  return longest;
}

/// Returns whether an input of the node that has at least `rank` axes counts samples along axis
/// number `axis` of the node's output.
bool any_counts(const SampleAxes& axes, const graph::Node& node, std::size_t rank,
                std::size_t axis) {
  const std::size_t longest = longest_rank(axes, node);
  return std::ranges::any_of(node.inputs, [&](graph::ValueId input) {
    const std::size_t missing = longest - axes.rank(input);
    return axes.rank(input) >= rank && axis >= missing && axes.counts(input, axis - missing);
  });
}

/// Returns the text of a permutation of `rank` axes that swaps axis 0 and `axis`, as in {1, 0, 2}.
std::string swap_text(std::size_t rank, std::size_t axis) {
  std::string text = "{" + std::to_string(axis);
  for (std::size_t i = 1; i < rank; ++i) text += ", " + std::to_string(i == axis ? 0 : i);
  return text + "}";
}

/// A Rearrangement gives a value `added` axes of 1 behind axis 0, and then swaps axis 0 and axis
/// `swapped`.
struct Rearrangement {
  std::size_t added, swapped = 0;

  /// Returns the text of the rearranged v, which has `rank` axes before, as in unsqueeze(v, 1).
  std::string text(std::size_t rank) const {
    std::string text = "v";
    for (std::size_t i = 0; i < added; ++i) text = "unsqueeze(" + text + ", 1)";
    return swapped == 0 ? text
                        : "transpose(" + text + ", " + swap_text(rank + added, swapped) + ")";
  }

  void rearrange(std::vector<std::int64_t>& dims) const {
    dims.insert(dims.begin() + 1, added, 1);
    std::swap(dims[0], dims[swapped]);
  }
};

/// Returns whether each input of the node has as many axes for 2 samples as for 3, and no fewer
/// than its matrices have. A custom op may compute other inputs.
bool has_ranks(const SampleAxes& axes, const graph::Node& node) {
  return std::ranges::all_of(node.inputs, [&](graph::ValueId input) {
    return axes.rank(input) >= axes_of_matrix(node) &&
           axes.rank(input) == axes.graphs()[1].type(input).shape.rank();
  });
}

/// Returns whether the node's inputs broadcast for each number of samples once those that
/// axes.text() shows as `text` are rearranged.
bool broadcast_with(const SampleAxes& axes, const graph::Node& node, const std::string& text,
                    const Rearrangement& rearrangement) {
  return has_ranks(axes, node) &&
         std::ranges::all_of(axes.graphs(), [&](const graph::Graph& graph) {
           std::optional<Shape> common = Shape();
           for (const graph::ValueId each : node.inputs) {
             const auto all = graph.type(each).shape.dims();
             std::vector<std::int64_t> dims(
                 all.begin(), all.end() - static_cast<std::ptrdiff_t>(axes_of_matrix(node)));
             if (axes.text(each) == text) rearrangement.rearrange(dims);
             common = graph::broadcast_shape(*common, Shape(dims));
             if (!common) return false;
           }
           return true;
         });
}

/// Returns "the value", or "each value" if the node has several inputs of the shape of `input`.
std::string value_text(const SampleAxes& axes, const graph::Node& node, graph::ValueId input) {
  const bool has_other = std::ranges::any_of(node.inputs, [&](graph::ValueId other) {
    return other != input && axes.text(other) == axes.text(input);
  });
  return has_other ? "each value" : "the value";
}

/// Returns whether each axis along which an input of another shape than `input` counts samples is
/// axis 0 of an output of `rank` axes.
bool others_count_first(const SampleAxes& axes, const graph::Node& node, graph::ValueId input,
                        std::size_t rank) {
  return std::ranges::all_of(node.inputs, [&](graph::ValueId other) {
    const std::size_t first = axes.rank(other) == rank ? 1 : 0;
    for (std::size_t axis = first; axis < axes.rank(other); ++axis)
      if (axes.counts(other, axis) && axes.text(other) != axes.text(input)) return false;
    return true;
  });
}

/// Returns which axes of 1 let `input`, whose axis 0 counts samples, keep that axis in front of the
/// result, or an empty text if none do. The samples of other inputs have to be there, too: each
/// sample would meet all samples otherwise.
std::string advice_on_axes(const SampleAxes& axes, const graph::Node& node, graph::ValueId input) {
  const std::size_t rank = axes.rank(input), missing = longest_rank(axes, node) - rank;
  const std::string text = axes.text(input);
  for (std::size_t added = missing; added <= missing + 1; ++added)
    if (rank + added <= Shape::max_rank && others_count_first(axes, node, input, rank + added) &&
        broadcast_with(axes, node, text, {added}))
      return "; with v for " + value_text(axes, node, input) + " of shape " + text + ", " +
             Rearrangement{added}.text(rank) + " keeps the samples on axis 0";
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

/// Returns what puts the samples of `input` in the place where others count theirs, if anything
/// that is done to `input` alone does. Axis 0 of `input` would be axis number `place` of the node's
/// output. If a longer operand counts samples along an axis before `place`, axis 0 of `input` gets
/// there by axes of 1 behind it. If an operand counts them along an axis behind `place`, along
/// which `input` counts none and thus has the size 1, `input` swaps that axis with axis 0.
std::optional<Rearrangement> placing(const SampleAxes& axes, const graph::Node& node,
                                     graph::ValueId input, std::size_t place) {
  const std::size_t rank = axes.rank(input);
  for (std::size_t before = 0; before < place; ++before)
    if (any_counts(axes, node, rank, before)) return Rearrangement{place - before};
  for (std::size_t axis = 1; axis + axes_of_matrix(node) < rank; ++axis)
    if (!axes.counts(input, axis) && any_counts(axes, node, rank, place + axis))
      return Rearrangement{0, axis};
  return std::nullopt;
}

/// Returns what pairs each sample of `input` with itself, or nothing if nothing that is done to
/// `input` and inputs of its shape would. An axis may count twice as many values as there are
/// samples, and these do not pair.
std::optional<Rearrangement> pairing(const SampleAxes& axes, const graph::Node& node,
                                     graph::ValueId input, std::size_t place) {
  const auto found = placing(axes, node, input, place);
  return found && broadcast_with(axes, node, axes.text(input), *found) ? found : std::nullopt;
}

constexpr const char* pairs_with_itself = " pairs each sample with itself";

/// Returns what pairs each sample of `input` with itself if the inputs do not broadcast, or an
/// empty text if nothing that is done to `input` and inputs of its shape would.
std::string advice_on_pairs(const SampleAxes& axes, const graph::Node& node, graph::ValueId input) {
  const std::size_t rank = axes.rank(input);
  const auto found = pairing(axes, node, input, longest_rank(axes, node) - rank);
  if (!found) return "";
  return "; with v for " + value_text(axes, node, input) + " of shape " + axes.text(input) + ", " +
         found->text(rank) + pairs_with_itself;
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
  const auto itself = pairing(axes, node, input, place);
  return "with v for " + value_text(axes, node, input) + " of that shape, " +
         (itself ? itself->text(rank) + pairs_with_itself + ", and " : "") +
         Rearrangement{1, 1}.text(rank) + " pairs each sample with all samples";
}

/// Checks that the node, which broadcasts its inputs, puts the axis of the samples of none of them
/// behind others, unless it meets an axis that counts samples there. Only an operand of more axes
/// has such an axis: samples of operands of the same rank would together lie behind other axes.
void check_broadcast(const SampleAxes& axes, const graph::Node& node) {
  for (const graph::ValueId input : node.inputs) {
    const std::size_t place = axes.rank(node.outputs[0]) - axes.rank(input);
    if (place == 0 || !counts_first(axes, node, input) ||
        any_counts(axes, node, axes.rank(input) + 1, place))
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

/// Returns what makes the inputs of the node broadcast.
std::string advice_on_shapes(const SampleAxes& axes, const graph::Node& node) {
  for (const auto advice_on : {advice_on_axes, advice_on_pairs})
    for (const graph::ValueId input : node.inputs)
      if (counts_first(axes, node, input))
        if (const std::string advice = advice_on(axes, node, input); !advice.empty()) return advice;
  const bool has_room = std::ranges::any_of(
      node.inputs, [&](graph::ValueId input) { return axes.rank(input) < Shape::max_rank; });
  return has_room ? ", and unsqueeze() adds an axis of 1" : "";
}

/// Checks that the inputs of the node, which broadcasts them, broadcast for each number of samples.
/// It leaves inputs of unfit ranks to the op.
void check_shapes(const SampleAxes& axes, const graph::Node& node) {
  if (!has_ranks(axes, node) || broadcast_with(axes, node, "", {0})) return;
  throw Error(Errc::shape_mismatch,
              "model " + quoted_text(axes.graph().name) + ": " + to_string(node) +
                  ": expected shapes that broadcast for any number N of samples, got " +
                  input_texts(axes, node) + "; counted from the last axis" +
                  (axes_of_matrix(node) > 0 ? " before the matrices" : "") +
                  ", sizes have to be equal or 1" + advice_on_shapes(axes, node));
}

graph::Graph first_nodes(graph::Graph graph, std::size_t count) {
  graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(count), graph.nodes.end());
  return graph;
}

bool takes_samples(const graph::Graph& graph) try {
  const SampleAxes axes(graph);
  return true;
} catch (const Error&) {
  return false;
}

/// Checks the first node of `graph` that refuses 2 or 3 samples, and the nodes before it.
void check_refusing_node(const graph::Graph& graph) {
  std::vector<std::size_t> counts(graph.nodes.size());
  std::iota(counts.begin(), counts.end(), std::size_t{0});
  const auto first = std::ranges::partition_point(
      counts, [&](std::size_t before) { return takes_samples(first_nodes(graph, before + 1)); });
  // A custom op may refuse a number of samples once, and take it when it is asked again.
  if (first == counts.end()) return;
  const SampleAxes axes(first_nodes(graph, *first));
  check_broadcasts(axes);
  if (graph.nodes[*first].op->broadcasts) check_shapes(axes, graph.nodes[*first]);
}

/// Returns what is known of `graph`. @throws Error if one of its nodes refuses 2 or 3 samples: what
/// check_refusing_node() says, or else what the node says.
SampleAxes known_axes(const graph::Graph& graph) try {
  return SampleAxes(graph);
} catch (const Error&) {
  check_refusing_node(graph);
  throw;
}

}  // namespace

void check_sample_axes(const graph::Graph& graph) {
  check_broadcasts(known_axes(graph));
}

}  // namespace penstock
