#include "graph/replica_ipus.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace penstock::graph {
namespace {

template <class Stages, class Ipu = std::identity>
std::int64_t shift_of(const Stages& stages, bool parallel_phases, Ipu ipu = {}) {
  if (!parallel_phases || stages.empty()) return std::ssize(stages);
  const auto [lowest, highest] = std::ranges::minmax_element(stages, {}, ipu);
  const std::int64_t reach =
      std::int64_t{std::invoke(ipu, *highest)} - std::invoke(ipu, *lowest) + 1;
  return reach + reach % 2;
}

}  // namespace

std::int64_t replica_shift(std::span<const std::int32_t> of_stages, bool parallel_phases) {
  return shift_of(of_stages, parallel_phases);
}

std::int64_t ipu_of(const Plan& plan, std::int64_t replica, std::size_t stage) {
  return plan.stages[stage].ipu +
         replica * shift_of(plan.stages, plan.phases.parallel, &StagePlan::ipu);
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
