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

/// Returns whether another input of the node counts samples along axis number `axis` of its output.
bool others_count(const SampleAxes& axes, const graph::Node& node, graph::ValueId input,
                  std::size_t axis) {
  const std::size_t rank = axes.shape(node.outputs[0]).rank();
  for (const graph::ValueId other : node.inputs) {
    const std::size_t missing = rank - axes.shape(other).rank();
    if (other != input && axis >= missing && axes.counts(other, axis - missing)) return true;
  }
  return false;
}

/// Returns what pairs each sample of the value v, whose axis 0 would be axis number `place` of the
/// node's output, with itself. If another input counts samples along an axis before `place`, axis 0
/// of v gets there by axes of 1 behind it.
std::string advice_on_pairs(const SampleAxes& axes, const graph::Node& node, graph::ValueId v,
                            std::size_t place) {
  for (std::size_t before = 0; before < place; ++before) {
    if (!others_count(axes, node, v, before)) continue;
    std::string moved = "v";
    for (std::size_t axis = before; axis < place; ++axis) moved = "unsqueeze(" + moved + ", 1)";
    return moved;
  }
  return "transpose() that puts the samples of all operands along one axis, counted from the last,";
}

/// Returns what to do about `input`, whose axis 0 counts samples and would be axis number `place`
/// of the node's output, behind other axes.
std::string advice(const SampleAxes& axes, const graph::Node& node, graph::ValueId input,
                   std::size_t place) {
  const std::size_t rank = axes.shape(input).rank();
  const auto is_longer = [&](graph::ValueId other) { return axes.shape(other).rank() > rank; };
  const auto is_longer_with_samples = [&](graph::ValueId other) {
    return is_longer(other) && axes.counts_any(other);
  };
  if (std::ranges::none_of(node.inputs, is_longer_with_samples))
    return axes.text(*std::ranges::find_if(node.inputs, is_longer)) +
           " has no axis of samples, and has to have fewer axes than " + axes.text(input) +
           ", or as many with a first one of size 1; unsqueeze() adds axes to " + axes.text(input);
  std::string order = "{1, 0";
  for (std::size_t axis = 2; axis <= rank; ++axis) order += ", " + std::to_string(axis);
  return "with v for the value of that shape, " + advice_on_pairs(axes, node, input, place) +
         " pairs each sample with itself, and transpose(unsqueeze(v, 1), " + order +
         "}) pairs each sample with all samples";
}

/// Checks that the node, which broadcasts its inputs, puts the axis of the samples of none of them
/// behind others, unless it meets an axis that counts samples there.
void check_broadcast(const SampleAxes& axes, const graph::Node& node) {
  const std::size_t rank = axes.shape(node.outputs[0]).rank();
  const std::size_t of_matrix = node.op == &graph::matmul ? 2 : 0;
  for (const graph::ValueId input : node.inputs) {
    const std::size_t its_rank = axes.shape(input).rank();
    const std::size_t place = rank - its_rank;
    if (place == 0 || its_rank <= of_matrix || !axes.counts(input, 0) ||
        others_count(axes, node, input, place))
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
