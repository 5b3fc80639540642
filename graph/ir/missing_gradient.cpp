#include "graph/ir/missing_gradient.hpp"

#include <algorithm>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>

#include "graph/ir/op.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// A Stop is a node through which no gradient goes back to a parameter on which one of its inputs
/// depends.
struct Stop {
  NodeId node;
  std::string_view reason;
  bool hides_trained;  // At least one such parameter is trained.
};

/// Returns, for each input of node `id`, whether the op gives it a gradient. The nodes that would
/// compute the gradients are appended to `trial`, a copy of the graph.
std::vector<bool> inputs_with_gradients(Graph& trial, NodeId id) {
  const Node node = trial.node(id);
  std::vector<bool> is_given(node.inputs.size());
  if (node.op->stops_gradient || !node.op->backward) return is_given;
  const auto is_real = [&](ValueId value) { return trial.type(value).dtype == DType::f32; };
  std::vector<bool> needed;
  for (const ValueId input : node.inputs) needed.push_back(is_real(input));
  // An output has the type of its gradient, and so it can stand for it.
  std::vector<ValueId> output_gradients;
  for (const ValueId output : node.outputs)
    output_gradients.push_back(is_real(output) ? output : none);
  GradientContext context(trial, id, std::move(output_gradients), needed);
  try {
    node.op->backward(context);
  } catch (const Error&) {
    // The op refuses to be trained here, which is told once the reason at hand is mended.
    return needed;
  }
  for (std::size_t i = 0; i < is_given.size(); ++i)
    is_given[i] = needed[i] && context.input_gradients()[i] != none;
  return is_given;
}

/// Returns why no gradient goes back through a node of `op` from an output of the type `dtype` to
/// one of the inputs, or an empty text if one does. `is_given` says whether the op gives that input
/// a gradient.
std::string_view reason_of_stop(const Op& op, DType dtype, bool is_given) {
  if (op.stops_gradient) return "which lets no gradient back";
  if (dtype != DType::f32) return "whose integers have no gradient";
  if (!op.backward) return "which has no gradient";
  return is_given ? "" : "which gives one of its inputs no gradient";
}

/// The Sources of a value tell on which parameters it depends, and why no gradient reaches them.
class Sources {
 public:
  Sources(const Graph& graph, const std::vector<bool>& dependent, ValueId value)
      : graph_(graph),
        dependent_(dependent),
        is_origin_(graph.values.size()),
        frozen_(graph.values.size(), none) {
    find_origins(value);
    for (const Variable& variable : graph.variables)
      if (variable.frozen && graph.value(variable.value).kind == ValueKind::parameter)
        frozen_[index(variable.value)] = variable.value;
    find_stops();
  }

  /// Returns the nodes that hide parameters from the value: first those that hide trained ones.
  std::span<const Stop> stops() const { return stops_; }
  std::span<const Stop> stops_of_trained() const {
    const auto count = std::ranges::count_if(stops_, &Stop::hides_trained);
    return stops().first(static_cast<std::size_t>(count));
  }

  /// Returns a frozen parameter on which `value` depends in a way without a stop, or `none`.
  ValueId frozen(ValueId value) const { return frozen_[index(value)]; }

 private:
  void find_origins(ValueId value) {
    const auto is_origin = [&](ValueId of) { return is_origin_[index(of)]; };
    is_origin_[index(value)] = true;
    for (const Node& node : graph_.nodes | std::views::reverse)
      if (std::ranges::any_of(node.outputs, is_origin))
        for (const ValueId input : node.inputs) is_origin_[index(input)] = true;
  }

  bool depends(ValueId value) const {
    return dependent_[index(value)] || frozen_[index(value)] != none;
  }

  void find_stops() {
    Graph trial = graph_;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      const auto is_needed = [&](ValueId output) { return is_origin_[index(output)]; };
      if (std::ranges::none_of(node.outputs, is_needed) ||
          std::ranges::none_of(node.inputs, [&](ValueId input) { return depends(input); }))
        continue;
      const std::vector<bool> is_given = inputs_with_gradients(trial, static_cast<NodeId>(i));
      for (const ValueId output : node.outputs | std::views::filter(is_needed))
        for (std::size_t k = 0; k < node.inputs.size(); ++k)
          if (depends(node.inputs[k]))
            go_through(static_cast<NodeId>(i), output, node.inputs[k],
                       is_given[k] && !is_needed_untrained(node, node.inputs[k], is_given));
    }
    std::ranges::stable_partition(stops_, &Stop::hides_trained);
  }

  /// Returns whether `input`, which depends on no trained parameter by a way without a stop, has
  /// its frozen parameter in common with an input of `node` that gets no gradient. A training of
  /// that parameter would be refused.
  bool is_needed_untrained(const Node& node, ValueId input,
                           const std::vector<bool>& is_given) const {
    const ValueId parameter = frozen_[index(input)];
    if (parameter == none || dependent_[index(input)]) return false;
    for (std::size_t k = 0; k < node.inputs.size(); ++k)
      if (!is_given[k] && frozen_[index(node.inputs[k])] == parameter) return true;
    return false;
  }

  /// Takes notice that `output` of node `id` depends on what `input` depends on.
  void go_through(NodeId id, ValueId output, ValueId input, bool is_given) {
    const auto reason = reason_of_stop(*graph_.node(id).op, graph_.type(output).dtype, is_given);
    if (reason.empty()) {
      if (frozen_[index(output)] == none) frozen_[index(output)] = frozen_[index(input)];
      return;
    }
    if (stops_.empty() || stops_.back().node != id) stops_.push_back({id, reason, false});
    if (dependent_[index(input)]) stops_.back().hides_trained = true;
  }

  const Graph& graph_;
  const std::vector<bool>& dependent_;
  std::vector<bool> is_origin_;  ///< The value is computed from these, itself among them.
  std::vector<ValueId> frozen_;
  std::vector<Stop> stops_;
};

/// Returns a text that names the first of `stops`, and tells whether there are others.
std::string way_through(const Graph& graph, std::span<const Stop> stops) {
  const Node& node = graph.node(stops[0].node);
  return std::string("by way of ") + (stops.size() > 1 ? "layers such as " : "") + to_string(node) +
         (node.attributes.has("op") ? " of the op " + quoted_text(node.attributes.text("op"))
                                    : "") +
         ", " + std::string(stops[0].reason);
}

}  // namespace

std::string why_without_gradient(const Graph& graph, const std::vector<bool>& dependent,
                                 ValueId value) {
  const Sources sources(graph, dependent, value);
  const ValueId frozen = sources.frozen(value);
  const std::string not_trained = " is frozen, or Objective::trains leaves it out",
                    train = "; unfreeze() it, or add it there";
  if (frozen == value) return not_trained.substr(1) + train;
  if (sources.stops().empty() && frozen == none) return "does not depend on any parameter";
  const std::span<const Stop> of_trained = sources.stops_of_trained();
  if (frozen == none)
    return "depends on parameters only " + way_through(graph, sources.stops()) +
           (of_trained.empty() ? "; let it depend in another way on one that is trained"
                               : "; let it depend on one in another way, too");
  return "depends on no parameter that is trained" +
         (of_trained.empty() ? "" : ", except " + way_through(graph, of_trained)) + ": " +
         quoted_text(graph.value(frozen).name) + not_trained + train;
}

}  // namespace penstock::graph
