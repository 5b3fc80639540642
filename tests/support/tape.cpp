#include "tests/support/tape.hpp"

#include <algorithm>
#include <stdexcept>

namespace penstock::testing {

using graph::Node;
using graph::NodeId;
using graph::none;
using graph::ValueId;

namespace {

/// Returns the key for the random draws of `node`. A gradient node has the key of its forward node,
/// so that it can repeat the draws.
graph::RandomKey key_of(const graph::Graph& graph, const Node& node) {
  const Node& owner = node.forward_of == none ? node : graph.node(node.forward_of);
  return {.seed = 7, .name = graph::hash_name(owner.name)};
}

Tensor sum(const Tensor& a, const Tensor& b) {
  std::vector<float> total(a.as<float>().begin(), a.as<float>().end());
  std::transform(total.begin(), total.end(), b.as<float>().begin(), total.begin(), std::plus<>());
  return {a.shape(), std::span<const float>(total)};
}

}  // namespace

ValueId Tape::leaf(Tensor tensor) {
  const auto id = static_cast<ValueId>(graph_.values.size());
  graph_.values.push_back({.name = "leaf" + std::to_string(id),
                           .type = {tensor.dtype(), tensor.shape()},
                           .kind = graph::ValueKind::input});
  tensors_.push_back(std::move(tensor));
  gradients_.emplace_back();
  return id;
}

std::vector<ValueId> Tape::apply(const graph::Op& op, std::vector<ValueId> inputs,
                                 graph::Attributes attributes) {
  const NodeId node = append(graph_, op, std::move(inputs), std::move(attributes));
  run_new_nodes();
  return graph_.node(node).outputs;
}

void Tape::run_new_nodes() {
  tensors_.resize(graph_.values.size());
  gradients_.resize(graph_.values.size());
  for (std::size_t id = calls_.size(); id < graph_.nodes.size(); ++id) {
    const Node& node = graph_.nodes[id];
    OpCall call{.op = node.op, .attributes = node.attributes, .random = key_of(graph_, node)};
    for (const ValueId input : node.inputs) call.inputs.push_back(tensors_[index(input)]);
    const auto results = run(call);
    for (std::size_t i = 0; i < results.size(); ++i) tensors_[index(node.outputs[i])] = results[i];
    calls_.push_back(std::move(call));
  }
}

void Tape::add_gradient(ValueId value, const Tensor& contribution) {
  if (contribution.shape() != graph_.type(value).shape)
    throw std::logic_error("the gradient of " + graph_.value(value).name + " has shape " +
                           to_string(contribution.shape()));
  Tensor& gradient = gradients_[index(value)];
  gradient = gradient ? sum(gradient, contribution) : contribution;
}

std::vector<ValueId> Tape::gradient_leaves(const std::vector<ValueId>& outputs) {
  std::vector<ValueId> leaves;
  for (const ValueId output : outputs) {
    const Tensor gradient = gradients_[index(output)];
    leaves.push_back(gradient ? leaf(gradient) : none);
  }
  return leaves;
}

std::vector<bool> Tape::wanted_values(const std::vector<ValueId>& wanted) const {
  std::vector<bool> result(graph_.values.size(), wanted.empty());
  for (const ValueId value : wanted) result[index(value)] = true;
  for (const Node& node : graph_.nodes)
    for (const ValueId input : node.inputs)
      if (result[index(input)])
        for (const ValueId output : node.outputs) result[index(output)] = true;
  return result;
}

void Tape::backward_of(NodeId id, const std::vector<bool>& wanted) {
  const std::vector<ValueId> inputs = graph_.node(id).inputs;
  const auto output_gradients = gradient_leaves(graph_.node(id).outputs);
  const graph::Op& op = *graph_.node(id).op;
  const bool reached = std::any_of(output_gradients.begin(), output_gradients.end(),
                                   [](ValueId gradient) { return gradient != none; });
  if (!reached || !op.backward) return;
  std::vector<bool> needed;
  for (const ValueId input : inputs)
    needed.push_back(wanted[index(input)] && graph_.type(input).dtype == DType::f32);
  graph::GradientContext context(graph_, id, output_gradients, needed);
  op.backward(context);
  run_new_nodes();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const ValueId gradient = context.input_gradients()[i]; gradient != none && needed[i])
      add_gradient(inputs[i], tensors_[index(gradient)]);
}

void Tape::backward(ValueId output, const Tensor& gradient, const std::vector<ValueId>& wanted) {
  const auto values = wanted_values(wanted);
  add_gradient(output, gradient);
  for (NodeId id = static_cast<NodeId>(graph_.nodes.size()) - 1; id >= 0; --id)
    backward_of(id, values);
}

}  // namespace penstock::testing
