#include "graph/ir/missing_gradient.hpp"

#include <algorithm>
#include <functional>
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

/// A Lack is an input of a node to which the op gives no gradient, although a training needs one.
struct Lack {
  NodeId node;
  ValueId input;
};

/// A Training tells what a training of a value and of all that depends on it would meet.
struct Training {
  std::optional<Lack> lack;   // The training would be refused for this first.
  bool throws_error = false;  // An op would refuse to be trained.
  bool is_reached = false;    // The loss would have a gradient of what is trained.
};

/// GivenGradients tells to which of its inputs a node gives a gradient.
class GivenGradients {
 public:
  struct OfNode {
    std::vector<bool> is_given;  ///< This says, for each input, whether it gets a gradient.
    bool throws_error = false;   ///< The op refuses to be trained; `is_given` is all true then.
  };

  explicit GivenGradients(const Graph& graph) : trial_(graph), given_(graph.nodes.size()) {}

  const OfNode& of(NodeId id) {
    std::optional<OfNode>& given = given_[index(id)];
    if (!given) given = tried(id);
    return *given;
  }

 private:
  /// Emits the gradients of all inputs of node `id` into a copy of the graph.
  OfNode tried(NodeId id) {
    const Node node = trial_.node(id);
    const auto is_real = [&](ValueId value) { return trial_.type(value).dtype == DType::f32; };
    std::vector<bool> needed;
    for (const ValueId input : node.inputs) needed.push_back(is_real(input));
    // An output has the type of its gradient, and so it can stand for it.
    std::vector<ValueId> output_gradients;
    for (const ValueId output : node.outputs)
      output_gradients.push_back(is_real(output) ? output : none);
    try {
      return {are_given(input_gradients(trial_, id, std::move(output_gradients), needed))};
    } catch (const Error&) {
      // The op says what it refuses once the reason at hand is mended.
      return {std::vector<bool>(node.inputs.size(), true), true};
    }
  }

  Graph trial_;  ///< This is the copy of the graph, with the nodes that compute such gradients.
  std::vector<std::optional<OfNode>> given_;
};

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
        value_(value),
        given_(graph),
        is_origin_(graph.values.size()),
        frozen_(graph.values.size(), none) {
    find_origins();
    for (const Variable& variable : graph.variables)
      if (is_frozen_parameter(variable)) frozen_[index(variable.value)] = variable.value;
    find_stops();
  }

  /// Returns the nodes that hide parameters from the value: first those that hide trained ones.
  std::span<const Stop> stops() const { return stops_; }
  std::span<const Stop> stops_of_trained() const {
    const auto count = std::ranges::count_if(stops_, &Stop::hides_trained);
    return stops().first(static_cast<std::size_t>(count));
  }

  /// Returns a frozen parameter on which the value depends in a way without a stop, or `none`.
  ValueId frozen() const { return frozen_[index(value_)]; }

  /// Returns the first frozen parameter whose training would not be refused, and would compute a
  /// gradient of the value, or `none`. It returns one whose op refuses to be trained only if there
  /// is no other.
  ValueId trainable() {
    ValueId refused_by_op = none;
    for (const Variable& variable : graph_.variables) {
      if (!is_frozen_parameter(variable) || !dependent_on(variable.value)[index(value_)]) continue;
      const Training training = training_of(variable.value);
      if (training.lack) continue;
      if (!training.throws_error) return variable.value;
      if (refused_by_op == none) refused_by_op = variable.value;
    }
    return refused_by_op;
  }

  /// Returns the value by which the loss reads the value: itself, or the result of the fused node
  /// if the value is inside one, and nodes that repeat the parts of the fused node compute it.
  ValueId read_value() const {
    const NodeId producer = graph_.value(value_).producer;
    if (producer == none || !graph_.node(producer).apart) return value_;
    const std::vector<bool> dependent = dependent_on(value_);
    const auto twin = std::ranges::find_if(
        graph_.twins, [&](const Twin& each) { return dependent[index(each.value)]; });
    return twin == graph_.twins.end() ? value_ : twin->original;
  }

  /// Tells what a training of `trained` would meet. No gradient goes back through its lacks.
  Training training_of(ValueId trained) {
    const std::vector<bool> dependent = dependent_on(trained);
    const auto is_dependent = [&](ValueId value) { return dependent[index(value)]; };
    Training training;
    std::vector<bool> is_reached(graph_.values.size());
    is_reached[index(graph_.loss)] = is_dependent(graph_.loss);
    for (auto id = static_cast<NodeId>(graph_.nodes.size()); id-- > 0;) {
      const Node& node = graph_.node(id);
      if (std::ranges::none_of(node.outputs, [&](ValueId of) { return is_reached[index(of)]; }))
        continue;
      std::vector<bool> needed;
      for (const ValueId input : node.inputs) needed.push_back(is_dependent(input));
      const GivenGradients::OfNode& given = given_.of(id);
      training.throws_error = training.throws_error || given.throws_error;
      const auto missing = missing_gradients(needed, given.is_given);
      if (!missing.empty() && !training.lack) training.lack = {id, node.inputs[missing[0]]};
      for (std::size_t i = 0; i < needed.size(); ++i)
        if (needed[i] && given.is_given[i]) is_reached[index(node.inputs[i])] = true;
    }
    training.is_reached = is_reached[index(trained)];
    return training;
  }

 private:
  bool is_frozen_parameter(const Variable& variable) const {
    return variable.frozen && graph_.value(variable.value).kind == ValueKind::parameter;
  }

  /// Returns the values of which a training of `trained` would compute gradients.
  std::vector<bool> dependent_on(ValueId trained) const {
    std::vector<bool> marked(graph_.values.size());
    marked[index(trained)] = true;
    return dependent_values(graph_, std::move(marked));
  }

  void find_origins() {
    const auto is_origin = [&](ValueId of) { return is_origin_[index(of)]; };
    is_origin_[index(value_)] = true;
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node)
      if (std::ranges::any_of(node->outputs, is_origin))
        for (const ValueId input : node->inputs) is_origin_[index(input)] = true;
  }

  bool depends(ValueId value) const {
    return dependent_[index(value)] || frozen_[index(value)] != none;
  }

  void find_stops() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      const auto is_needed = [&](ValueId output) { return is_origin_[index(output)]; };
      if (std::ranges::none_of(node.outputs, is_needed) ||
          std::ranges::none_of(node.inputs, [&](ValueId input) { return depends(input); }))
        continue;
      const std::vector<bool>& is_given = given_.of(static_cast<NodeId>(i)).is_given;
      for (const ValueId output : node.outputs)
        for (std::size_t k = 0; k < node.inputs.size(); ++k)
          if (is_needed(output) && depends(node.inputs[k]))
            go_through(static_cast<NodeId>(i), output, node.inputs[k], is_given[k]);
    }
    std::stable_partition(stops_.begin(), stops_.end(), std::mem_fn(&Stop::hides_trained));
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
  ValueId value_;
  GivenGradients given_;
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

std::string text_of(const Graph& graph, const Lack& lack) {
  return to_string(graph.node(lack.node)) + " gives no gradient to its input " +
         quoted_text(graph.value(lack.input).name);
}

/// Says of a frozen parameter how it can be trained. `lack` is why its training would be refused,
/// if it would be.
std::string how_to_train(const Graph& graph, const std::optional<Lack>& lack) {
  const std::string frozen = "is frozen, or Objective::trains leaves it out";
  if (!lack) return frozen + "; unfreeze() it, or add it there";
  return frozen + ", and its training would be refused, for " + text_of(graph, *lack) +
         "; make a constant of that input by stop_gradient(), and unfreeze() the parameter, or add "
         "it there";
}

/// Says of a value of which the loss would have no gradient if `frozen` was trained how it can get
/// one, if the loss depends on it. `lack` is why no gradient would reach the value then.
std::string how_to_reach(const Graph& graph, const std::optional<Lack>& lack, ValueId frozen) {
  if (!lack) return "the loss does not depend on, or only by ways that let no gradient back";
  return "the loss depends on only by an input that gets no gradient, for " +
         text_of(graph, *lack) +
         "; let the loss depend on it in another way, make a constant of that input by "
         "stop_gradient(), and unfreeze() the parameter " +
         quoted_text(graph.value(frozen).name) + ", or add it to Objective::trains";
}

}  // namespace

std::vector<bool> dependent_values(const Graph& graph, std::vector<bool> marked) {
  for (const Node& node : graph.nodes) {
    const bool is_dependent =
        std::ranges::any_of(node.inputs, [&](ValueId input) { return marked[index(input)]; });
    if (is_dependent && !node.op->stops_gradient)
      for (const ValueId output : node.outputs)
        marked[index(output)] = graph.type(output).dtype == DType::f32;
  }
  return marked;
}

std::vector<ValueId> input_gradients(Graph& graph, NodeId id, std::vector<ValueId> output_gradients,
                                     const std::vector<bool>& needed) {
  const Op& op = *graph.node(id).op;
  GradientContext context(graph, id, std::move(output_gradients), needed);
  if (op.backward) op.backward(context);
  return context.input_gradients();
}

std::vector<bool> are_given(const std::vector<ValueId>& gradients) {
  std::vector<bool> given;
  for (const ValueId gradient : gradients) given.push_back(gradient != none);
  return given;
}

std::vector<std::size_t> missing_gradients(const std::vector<bool>& needed,
                                           const std::vector<bool>& is_given) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < needed.size(); ++i)
    if (needed[i] && !is_given[i]) missing.push_back(i);
  return missing;
}

std::string why_without_gradient(const Graph& graph, const std::vector<bool>& dependent,
                                 ValueId value) {
  Sources sources(graph, dependent, value);
  const ValueId trainable = sources.trainable();
  const ValueId frozen = trainable == none ? sources.frozen() : trainable;
  if (sources.stops().empty() && frozen == none) return "does not depend on any parameter";
  const std::span<const Stop> of_trained = sources.stops_of_trained();
  if (frozen == none)
    return "depends on parameters only " + way_through(graph, sources.stops()) +
           (of_trained.empty() ? "; let it depend in another way on one that is trained"
                               : "; let it depend on one in another way, too");
  const Training of_value = sources.training_of(sources.read_value());
  if (!of_value.is_reached) return how_to_reach(graph, of_value.lack, frozen);
  const std::string what_to_do = how_to_train(graph, sources.training_of(frozen).lack);
  if (frozen == value) return what_to_do;
  return "depends on no parameter that is trained" +
         (of_trained.empty() ? "" : ", except " + way_through(graph, of_trained)) + ": " +
         quoted_text(graph.value(frozen).name) + " " + what_to_do;
}

}  // namespace penstock::graph
