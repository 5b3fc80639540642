#include "graph/compile/step_inputs.hpp"

#include "graph/passes/network/final_loss.hpp"
#include "graph/passes/network/prune.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

ValueId loss_or_none(const Graph& graph) {
  try {
    return final_loss(graph);
  } catch (const Error&) {
    return none;
  }
}

}  // namespace

std::vector<std::string> step_inputs(const Graph& graph) {
  std::vector<ValueId> wanted;
  if (const ValueId loss = loss_or_none(graph); loss != none) wanted.push_back(loss);
  for (const Output& output : graph.outputs) wanted.push_back(output.value);
  std::vector<std::string> names;
  for (const ValueId input : prune(graph, wanted).inputs) names.push_back(graph.value(input).name);
  return names;
}

}  // namespace penstock::graph
