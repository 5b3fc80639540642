#include "graph/passes/network/final_loss.hpp"

#include <algorithm>
#include <string>

#include "graph/ir/op.hpp"
#include "graph/values/printable.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// Returns the losses on which no later loss depends.
std::vector<NodeId> last_losses(const Graph& graph) {
  std::vector<bool> leads_to_loss(graph.values.size());
  std::vector<NodeId> last;
  for (auto id = static_cast<NodeId>(graph.nodes.size()); id-- > 0;) {
    const Node& node = graph.node(id);
    const bool feeds =
        std::ranges::any_of(node.outputs, [&](ValueId v) { return leads_to_loss[index(v)]; });
    if (node.op->is_loss && !feeds) last.insert(last.begin(), id);
    if (node.op->is_loss || feeds)
      for (const ValueId input : node.inputs) leads_to_loss[index(input)] = true;
  }
  return last;
}

std::string enumeration(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::string text;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    text += (i == 0                  ? ""
             : i + 1 == nodes.size() ? " and "
                                     : ", ") +
            to_string(graph.node(nodes[i]));
  return text;
}

}  // namespace

ValueId final_loss(const Graph& graph) {
  if (graph.loss != none) return graph.loss;
  const auto refuse = [&](const std::string& text) {
    throw Error(Errc::invalid_model, "model " + quoted_text(graph.name) + ": " + text);
  };
  const std::vector<NodeId> losses = last_losses(graph);
  if (losses.empty())
    refuse(
        "has no loss, and training needs one: end in a loss such as cross_entropy, or wrap what "
        "should be minimised in identity_loss");
  if (losses.size() > 1)
    refuse("has several independent losses, " + enumeration(graph, losses) +
           ", and training minimises one: add them up and wrap the sum in identity_loss");
  const ValueId loss = graph.node(losses[0]).outputs[0];
  for (const Node& node : graph.nodes)
    if (std::ranges::count(node.inputs, loss) > 0)
      refuse("the loss " + to_string(graph.node(losses[0])) + " is an input of " + to_string(node) +
             ", which is no loss: wrap what should be minimised in " +
             "identity_loss, or say with loss() what it is");
  return loss;
}

}  // namespace penstock::graph
