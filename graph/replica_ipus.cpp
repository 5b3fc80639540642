#include "graph/replica_ipus.hpp"

#include <algorithm>
#include <set>

namespace penstock::graph {
namespace {

std::int64_t even_reach(std::int64_t lowest, std::int64_t highest) {
  const std::int64_t reach = highest - lowest + 1;
  return reach + reach % 2;
}

}  // namespace

std::int64_t replica_shift(std::span<const std::int32_t> of_stages, bool parallel_phases) {
  if (!parallel_phases || of_stages.empty()) return std::ssize(of_stages);
  const auto [lowest, highest] = std::ranges::minmax(of_stages);
  return even_reach(lowest, highest);
}

std::int64_t ipu_of(const Plan& plan, std::int64_t replica, std::size_t stage) {
  const std::int64_t first = plan.stages[stage].ipu;
  if (!plan.phases.parallel) return first + replica * std::ssize(plan.stages);
  const auto [lowest, highest] = std::ranges::minmax_element(plan.stages, {}, &StagePlan::ipu);
  return first + replica * even_reach(lowest->ipu, highest->ipu);
}

std::int32_t used_ipus(std::span<const std::int32_t> of_stages, std::int64_t replicas,
                       bool parallel_phases) {
  const std::int64_t shift = replica_shift(of_stages, parallel_phases);
  std::set<std::int64_t> ipus;
  for (std::int64_t replica = 0; replica < replicas; ++replica)
    for (const std::int32_t ipu : of_stages) ipus.insert(ipu + replica * shift);
  return static_cast<std::int32_t>(ipus.size());
}

}  // namespace penstock::graph
