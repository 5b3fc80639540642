#include "graph/passes/network/differentiate.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "graph/ir/append.hpp"
#include "graph/ir/missing_gradient.hpp"
#include "graph/ir/op.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/sums.hpp"
#include "graph/ops/lanes/to_lanes.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

class Differentiation {
 public:
  Differentiation(Graph graph, GradientSum sum)
      : graph_(std::move(graph)),
        sum_(sum),
        contributions_(graph_.values.size()),
        gradients_(graph_.values.size(), none) {
    find_dependent();
  }

  Graph run() {
    seed();
    for (auto id = static_cast<NodeId>(forward_nodes_); id-- > 0;) visit(id);
    sort_parameter_gradients();
    visit_apart();
    for (const GradientAnchor& wanted : graph_.gradients) give(wanted);
    graph_.gradients.clear();
    graph_.twins.clear();
    give_unused_names(graph_, static_cast<NodeId>(forward_nodes_));
    return std::move(graph_);
  }

 private:
  /// Marks the f32 parameters that are not frozen, and the f32 values that depend on one of them by
  /// a way that no op stops. Gradients are computed for marked values only.
  void find_dependent() { dependent_ = dependent_values(graph_, trained()); }

  /// Returns, for each ValueId, whether it is an f32 parameter that is not frozen.
  std::vector<bool> trained() const {
    std::vector<bool> is_trained(graph_.values.size());
    for (const Variable& variable : graph_.variables)
      is_trained[index(variable.value)] =
          !variable.frozen && graph_.value(variable.value).kind == ValueKind::parameter &&
          graph_.type(variable.value).dtype == DType::f32;
    return is_trained;
  }

  void seed() {
    const ValueId loss = graph_.loss;
    const auto refuse = [&](const std::string& text) {
      throw Error(Errc::invalid_model, subject() + "the loss " + text);
    };
    if (graph_.value(loss).producer == none) refuse("is not computed by any layer");
    if (graph_.type(loss).dtype != DType::f32)
      refuse("must be of type f32, is " + to_string(graph_.type(loss)));
    if (!dependent_[index(loss)]) refuse(why_without_gradient(graph_, dependent_, loss));
    const auto dims = graph_.type(loss).shape.dims();
    contributions_[index(loss)] = {
        context_of(graph_.value(loss).producer)
            .emit(fill, {},
                  {{"shape", std::vector<std::int64_t>(dims.begin(), dims.end())},
                   {"value", 1.0},
                   {"loss_scaled", std::int64_t{1}}})};
  }

  /// Returns the text with which refusals of the model begin.
  std::string subject() const { return "model " + quoted_text(graph_.name) + ": "; }

  GradientContext context_of(NodeId node) { return {graph_, node, {}, {}}; }

  /// Returns the gradient of `value`, which a node computes, or `none` if the loss does not depend
  /// on it.
  ValueId gradient_of(ValueId value) {
    const auto& parts = contributions_[index(value)];
    if (parts.empty()) return none;
    ValueId sum = parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i)
      sum = context_of(graph_.value(value).producer).emit(add, {sum, parts[i]});
    return sum;
  }

  void visit(NodeId id) {
    const Node node = graph_.node(id);
    std::vector<bool> needed;
    for (const ValueId input : node.inputs)
      needed.push_back(dependent_[index(input)] && (!node.apart || is_apart(input)));
    std::vector<ValueId> output_gradients;
    for (const ValueId output : node.outputs)
      output_gradients.push_back(gradients_[index(output)] = gradient_of(output));
    if (std::ranges::count(output_gradients, none) == std::ssize(output_gradients)) return;
    if (node.apart && std::ranges::count(needed, true) == 0) return;
    const std::vector<ValueId> gradients = gradients_of_inputs(id, output_gradients, needed);
    if (const auto missing = missing_gradients(needed, are_given(gradients)); !missing.empty())
      refuse_gradient(id, missing);
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (needed[i]) contribute(id, node.inputs[i], gradients[i]);
  }

  std::vector<ValueId> gradients_of_inputs(NodeId id, const std::vector<ValueId>& output_gradients,
                                           const std::vector<bool>& needed) {
    try {
      return input_gradients(graph_, id, output_gradients, needed);
    } catch (const Error& error) {
      throw Error(error.code(), subject() + to_string(graph_.node(id)) + ": " + error.what());
    }
  }

  /// Throws Error: the op of node `id` gives no gradient to the inputs at the positions `missing`,
  /// which need one.
  [[noreturn]] void refuse_gradient(NodeId id, const std::vector<std::size_t>& missing) const {
    const Node& node = graph_.node(id);
    const ValueId input = node.inputs[missing[0]];
    const bool is_parameter = graph_.value(input).kind == ValueKind::parameter;
    throw Error(Errc::invalid_model,
                subject() + to_string(node) + ": gives no gradient to its input " +
                    quoted_text(graph_.value(input).name) +
                    (is_parameter ? ", which is a parameter that is trained; "
                                  : ", which depends on a parameter that is trained; ") +
                    advice_without(id, missing));
  }

  /// Returns what to do about the inputs of node `id` at the positions `missing`, which get no
  /// gradient, so that the loss still depends on a parameter that is trained.
  std::string advice_without(NodeId id, const std::vector<std::size_t>& missing) const {
    Graph without = graph_;
    std::vector<ValueId>& inputs = without.node(id).inputs;
    const ValueId input = inputs[missing[0]];
    for (auto position = missing.rbegin(); position != missing.rend(); ++position)
      inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(*position));
    std::vector<bool> marked = trained();
    if (!dependent_values(without, marked)[index(graph_.loss)])
      return "let the loss depend on it in another way, and make a constant of this input by "
             "stop_gradient()";
    if (!marked[index(input)]) return "stop_gradient() makes a constant of it";
    marked[index(input)] = false;
    return std::string(dependent_values(without, marked)[index(graph_.loss)] ? "freeze it, or "
                                                                             : "") +
           "make a constant of it by stop_gradient()";
  }

  bool is_apart(ValueId value) const {
    const NodeId producer = graph_.value(value).producer;
    return producer != none && graph_.node(producer).apart;
  }

  /// Computes the gradients of values inside fused nodes, for which only anchors ask. The parts of
  /// such a fused node are repeated by nodes of their own; these take the gradient of the fused
  /// node's result, and compute the gradients inside it.
  void visit_apart() {
    for (const Twin& twin : graph_.twins)
      if (const ValueId gradient = gradients_[index(twin.original)]; gradient != none)
        contributions_[index(twin.value)] = {gradient};
    for (auto id = static_cast<NodeId>(forward_nodes_); id-- > 0;)
      if (graph_.node(id).apart) visit(id);
  }

  void contribute(NodeId use, ValueId value, ValueId gradient) {
    if (graph_.type(gradient) != graph_.type(value))
      throw Error(Errc::internal, to_string(graph_.node(use)) + ": the gradient of " +
                                      to_string(graph_.type(value)) + " is " +
                                      to_string(graph_.type(gradient)));
    if (graph_.value(value).kind == ValueKind::parameter)
      accumulate_gradient(use, value, gradient);
    else
      contributions_[index(value)].push_back(gradient);
  }

  void accumulate_gradient(NodeId use, ValueId parameter, ValueId gradient) {
    const auto sum = static_cast<ValueId>(graph_.values.size());
    graph_.values.push_back({.name = graph_.value(parameter).name + "/gradient",
                             .type = graph_.type(parameter),
                             .kind = ValueKind::accumulator});
    Attributes attributes;
    if (sum_ == GradientSum::running_mean) attributes.set("running", std::int64_t{1});
    context_of(use).emit(accumulate, {sum, gradient}, std::move(attributes));
    graph_.parameter_gradients.push_back(
        {.parameter = parameter, .gradient = gradient, .sum = sum, .use = use});
  }

  /// Sorts the gradients of parameters by parameter, in model order, and then by the node that uses
  /// the parameter.
  void sort_parameter_gradients() {
    std::vector<std::size_t> rank(graph_.values.size());
    for (std::size_t i = 0; i < graph_.variables.size(); ++i)
      rank[index(graph_.variables[i].value)] = i;
    const auto key = [&](const ParameterGradient& gradient) {
      return std::pair(rank[index(gradient.parameter)], gradient.use);
    };
    std::ranges::stable_sort(graph_.parameter_gradients, {}, key);
  }

  /// Adds a gradient that an anchor asks for to the outputs of the graph.
  void give(const GradientAnchor& wanted) {
    const std::string name = graph_.value(wanted.value).name;
    const auto refuse = [&](const std::string& text) {
      throw Error(
          Errc::invalid_argument,
          "options.output.anchors[" + std::to_string(wanted.anchor) + "]: expected " + text);
    };
    if (!dependent_[index(wanted.value)])
      refuse("a tensor that has a gradient, got " + quoted_text(name) + ", which " +
             why_without_gradient(graph_, dependent_, wanted.value));
    const ValueId gradient = graph_.value(wanted.value).kind == ValueKind::parameter
                                 ? sum_over_uses(wanted)
                                 : plain_gradient(wanted);
    if (gradient == none) refuse("what the loss depends on, got " + quoted_text(name));
    graph_.outputs.push_back({name + "/gradient", gradient, wanted.anchor});
  }

  ValueId plain_gradient(const GradientAnchor& wanted) {
    const ValueId gradient = gradients_[index(wanted.value)];
    if (gradient == none || wanted.lane_batch == 0) return gradient;
    return emit(graph_.value(wanted.value).producer, from_lanes, {gradient},
                {{"batch", wanted.lane_batch}}, wanted);
  }

  /// Returns the sum of the gradients of all uses of a parameter. The backward reaches the last use
  /// of the parameter first, so that the gradient of each earlier use is added in the block of that
  /// use.
  ValueId sum_over_uses(const GradientAnchor& wanted) {
    ValueId sum = none;
    const std::vector<ParameterGradient> uses = graph_.parameter_gradients;
    for (auto use = uses.rbegin(); use != uses.rend(); ++use)
      if (use->parameter == wanted.value)
        sum = sum == none ? use->gradient : emit(use->use, add, {sum, use->gradient}, {}, wanted);
    return sum;
  }

  /// Appends a node that only the anchor `wanted` needs to the block of `node`, and returns the
  /// output of the new node. If a node reads a parameter more than once, the parameter's anchor may
  /// append several nodes of the same name, which give_unused_names() renames.
  ValueId emit(NodeId node, const Op& op, std::vector<ValueId> inputs, Attributes attributes,
               const GradientAnchor& wanted) {
    std::string name = graph_.node(node).name + "/anchor" + std::to_string(wanted.anchor) + '/' +
                       std::string(op.name);
    const NodeId id =
        append_unnamed(graph_, op, std::move(inputs), std::move(attributes), std::move(name));
    Node& emitted = graph_.node(id);
    emitted.backward = true;
    emitted.forward_of = node;
    emitted.block = graph_.node(node).block;
    return emitted.outputs[0];
  }

  Graph graph_;
  GradientSum sum_;
  std::size_t forward_nodes_ = graph_.nodes.size();
  /// This says, for each ValueId of a forward value, whether find_dependent() has marked the value.
  std::vector<bool> dependent_;
  /// This has, for each ValueId of a forward value, the values whose sum is the gradient of the
  /// value.
  std::vector<std::vector<ValueId>> contributions_;
  /// This has, for each ValueId of a forward value that a node computes, its gradient once that is
  /// known, and until then `none`.
  std::vector<ValueId> gradients_;
};

}  // namespace

Graph differentiate(Graph graph, GradientSum sum) {
  return Differentiation(std::move(graph), sum).run();
}

}  // namespace penstock::graph
