#include "graph/passes/memory/memory_budget.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "graph/plan/phases/residency.hpp"
#include "graph/plan/replica_ipus.hpp"
#include "graph/plan/shards.hpp"
#include "graph/plan/staging_sizes.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {
namespace {

constexpr std::int64_t element_bytes = 4;

/// Returns how many elements a replica keeps of each tensor of the state for a parameter that has
/// `elements` elements.
std::int64_t kept_elements(const MemoryBudget& budget, const KeptState& kept,
                           std::int64_t elements) {
  const bool divided = kept.tensors > 0 && budget.shard_state.divides(elements, budget.replicas);
  return divided ? shard_elements(elements, budget.replicas) : elements;
}

}  // namespace

std::int64_t IpuNeed::weight_room() const {
  return std::accumulate(weight_rooms.begin(), weight_rooms.end(), std::int64_t{0});
}

std::int64_t IpuNeed::total() const {
  return weights + state + activations + scratch + weight_room();
}

void IpuNeed::add(std::size_t stage, const StageBytes& bytes, const StateNeed& of_state,
                  std::int32_t room) {
  if (std::ranges::count(stages, stage) == 0) stages.push_back(stage);
  weights += bytes.weights;
  activations += bytes.activations;
  scratch = std::max({scratch, bytes.scratch, of_state.staging_bytes});
  auto& weight_room = weight_rooms[index(room)];
  weight_room = std::max(weight_room, bytes.weight_room);
  state += of_state.bytes;
}

StateNeed state_need(const Plan& plan, std::size_t stage, const MemoryBudget& budget) {
  StateNeed need;
  for (const VariablePlan& variable : plan.stages[stage].variables) {
    if (variable.gradients.empty()) continue;
    const KeptState kept =
        budget.state ? budget.state(plan.variables[index(variable.variable)].name) : KeptState{};
    const bool off = budget.offload_state.takes(variable.type.bytes());
    const std::int64_t whole = variable.type.shape.elements();
    const std::int64_t elements = kept_elements(budget, kept, whole);
    if (!off) need.bytes += elements * element_bytes * kept.tensors;
    need.staging_bytes = std::max(
        need.staging_bytes,
        update_staging_bytes({.elements = elements,
                              .state_tensors = off ? kept.tensors : 0,
                              .sum = in_host_store(variable.gradients[0].home.space),
                              .elementwise = kept.elementwise,
                              .weight = in_host_store(variable.home.space),
                              .measured = elements < whole && !kept.elementwise ? whole : 0}));
  }
  return need;
}

std::map<std::int64_t, IpuNeed> ipu_needs(const Plan& plan, std::int64_t replicas,
                                          const MemoryBudget& budget, const Schedule* schedule) {
  std::map<std::int64_t, IpuNeed> needs;
  const ReplicaIpus ipus(plan, replicas);
  for (std::int64_t replica = 0; replica < replicas; ++replica)
    for (std::size_t stage = 0; stage < plan.stages.size(); ++stage)
      needs[ipus.of(replica, stage)].add(stage, bytes_of_stage(plan, stage, schedule),
                                         state_need(plan, stage, budget),
                                         room_of(plan.phases, static_cast<std::int32_t>(stage)));
  return needs;
}

std::map<std::int64_t, std::int64_t> needed_bytes(const Plan& plan, std::int64_t replicas,
                                                  const MemoryBudget& budget) {
  std::map<std::int64_t, std::int64_t> bytes;
  for (const auto& [ipu, need] : ipu_needs(plan, replicas, budget)) bytes[ipu] = need.total();
  return bytes;
}

bool fits(const Plan& plan, std::int64_t replicas, const MemoryBudget& budget) {
  if (budget.bytes == 0) return true;
  const auto needs = ipu_needs(plan, replicas, budget);
  return std::ranges::all_of(needs,
                             [&](const auto& each) { return each.second.total() <= budget.bytes; });
}

std::string size_text(std::int64_t bytes) {
  constexpr std::array<const char*, 4> units{"B", "kB", "MB", "GB"};
  double size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 999.95 && unit + 1 < units.size(); ++unit) size /= 1000;
  return decimal_text(size, unit == 0 ? 0 : 1) + ' ' + units[unit];
}

}  // namespace penstock::graph
