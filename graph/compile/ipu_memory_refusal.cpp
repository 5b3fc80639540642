#include "graph/compile/ipu_memory_refusal.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

namespace penstock::graph {
namespace {

/// Returns a text such as "stage 0" or "stages 0, 1 and 2".
std::string stages_text(const std::vector<std::size_t>& stages) {
  std::string text = stages.size() == 1 ? "stage " : "stages ";
  for (std::size_t i = 0; i < stages.size(); ++i)
    text += (i == 0 ? "" : i + 1 == stages.size() ? " and " : ", ") + std::to_string(stages[i]);
  return text;
}

std::string needs_text(const IpuNeed& need) {
  std::string text = size_text(need.weights + need.weight_room()) + " for weights and gradients, ";
  if (need.state > 0) text += size_text(need.state) + " for the optimizer's state, ";
  return text + size_text(need.activations) + " for micro-batches in flight, " +
         size_text(need.scratch) + " for scratch";
}

}  // namespace

IpuMemoryRefusal::IpuMemoryRefusal(MemoryAdvice advice, OptionNames names)
    : Error(Errc::out_of_memory, worded(advice, names)),
      advice_(std::make_shared<const MemoryAdvice>(std::move(advice))) {}

IpuMemoryRefusal refusal_of(const Plan& plan, std::int64_t replicas, const MemoryBudget& budget,
                            const std::vector<Remedy>& remedies) {
  const auto needs = ipu_needs(plan, replicas, budget);
  const auto lacking = std::ranges::find_if(
      needs, [&](const auto& each) { return each.second.total() > budget.bytes; });
  assert(lacking != needs.end());
  const auto& [ipu, need] = *lacking;
  const bool is_one = need.stages.size() == 1;
  return IpuMemoryRefusal({.lack = stages_text(need.stages) + " on IPU " + std::to_string(ipu) +
                                   (is_one ? " needs " : " need ") + size_text(need.total()) +
                                   " (" + needs_text(need) + "), an IPU has " +
                                   size_text(budget.bytes),
                           .remedies = remedies,
                           .last_remedy = is_one ? "smaller stages" : "fewer stages on the IPU"});
}

}  // namespace penstock::graph
