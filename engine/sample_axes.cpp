#include "engine/sample_axes.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "graph/ir/op.hpp"
#include "graph/ops/arithmetic/matmul.hpp"
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
                  " samples in a micro-batch, which axis 0 of each value counts: " + error.what());
}

/// A SampleAxes knows a graph for two numbers of samples: a size that differs counts samples.
class SampleAxes {
 public:
  explicit SampleAxes(const graph::Graph& graph)
      : graphs_{with_samples(graph, 2), with_samples(graph, 3)} {}

  const graph::Graph& graph() const { return graphs_[0]; }

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

/// Returns what pairs each sample of the value v, which is `input`, with itself, or an empty text
/// if nothing that is done to v alone would. Axis 0 of v would be axis number `place` of the node's
/// output. If a longer operand counts samples along an axis before `place`, axis 0 of v gets there
/// by axes of 1 behind it. If the longer operand counts them along an axis behind `place`, along
/// which v counts none and thus has the size 1, v swaps that axis with axis 0.
std::string advice_on_pairs(const SampleAxes& axes, const graph::Node& node, graph::ValueId input,
                            std::size_t place) {
  for (std::size_t before = 0; before < place; ++before) {
    if (!longer_counts(axes, node, input, before)) continue;
    std::string moved = "v";
    for (std::size_t axis = before; axis < place; ++axis) moved = "unsqueeze(" + moved + ", 1)";
    return moved;
  }
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
  const auto rank_of = [&](graph::ValueId value) { return axes.rank(value); };
  const graph::ValueId longest = *std::ranges::max_element(node.inputs, {}, rank_of);
  if (!axes.counts_any(longest)) {
    return axes.text(longest) + " has no axis of samples, and has to have fewer axes than " +
           axes.text(input) + ", or as many with a first one of size 1; unsqueeze() adds axes to " +
           axes.text(input);
  }
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
    if (place == 0 || axes.rank(input) <= axes_of_matrix(node) || !axes.counts(input, 0) ||
        longer_counts(axes, node, input, place))
      continue;
    std::string shapes;
    for (const graph::ValueId each : node.inputs)
      shapes += (shapes.empty() ? "" : " and ") + axes.text(each);
    throw Error(Errc::shape_mismatch,
                "model " + quoted_text(axes.graph().name) + ": " + to_string(node) +
                    ": expected operands of as many axes as the result, for axis 0 counts samples, "
                    "got " +
                    shapes + ": axis 0 of " + axes.text(input) + " would lie behind other axes; " +
                    advice(axes, node, input, place));
  }
}

}  // namespace

void check_sample_axes(const graph::Graph& graph) {
  const SampleAxes axes(graph);
  for (const graph::Node& node : axes.graph().nodes)
    if (node.op->broadcasts) check_broadcast(axes, node);
}

}  // namespace penstock
