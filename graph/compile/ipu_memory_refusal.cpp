#include "graph/compile/ipu_memory_refusal.hpp"

#include <algorithm>
#include <cassert>

namespace penstock::graph {
namespace {

/// Returns a text such as "stage 0" or "stages 0, 1 and 2".
std::string stages_text(const std::vector<std::size_t>& stages) {
  std::string text = stages.size() == 1 ? "stage " : "stages ";
  for (std::size_t i = 0; i < stages.size(); ++i)
    text += (i == 0 ? "" : i + 1 == stages.size() ? " and " : ", ") + std::to_string(stages[i]);
  return text;
}

std::string parts_text(const IpuNeed& need) {
  std::string text = size_text(need.weights + need.weight_room()) + " for weights and gradients, ";
  if (need.state > 0) text += size_text(need.state) + " for the optimizer's state, ";
  return text + size_text(need.activations) + " for micro-batches in flight, " +
         size_text(need.scratch) + " for scratch";
}

}  // namespace

IpuMemoryRefusal refusal_of(const Plan& plan, std::int64_t replicas, const MemoryBudget& budget,
                            const std::vector<std::string>& remedies) {
  const auto needs = ipu_needs(plan, replicas, budget);
  const auto lacking = std::ranges::find_if(
      needs, [&](const auto& each) { return each.second.total() > budget.bytes; });
  assert(lacking != needs.end());
  const auto& [ipu, need] = *lacking;
  std::string text = "options.topology.ipu_memory_bytes: " + stages_text(need.stages) + " on IPU " +
                     std::to_string(ipu) + (need.stages.size() == 1 ? " needs " : " need ") +
                     size_text(need.total()) + " (" + parts_text(need) + "), an IPU has " +
                     size_text(budget.bytes) + "; what would help: ";
  for (const std::string& remedy : remedies) text += remedy + "; or ";
  text += need.stages.size() > 1 ? "fewer stages on the IPU" : "smaller stages";
  return IpuMemoryRefusal(text);
}

}  // namespace penstock::graph
