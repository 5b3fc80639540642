#include "graph/passes/memory_budget.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <numeric>
#include <vector>

#include "graph/phases/residency.hpp"
#include "graph/replica_ipus.hpp"
#include "graph/shards.hpp"
#include "graph/staging.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

constexpr std::int64_t element_bytes = 4;

/// Of each tensor that a replica keeps of a parameter of so many.
std::int64_t kept_elements(const MemoryBudget& budget, const KeptState& kept,
                           std::int64_t elements) {
  const bool divided = kept.tensors > 0 && budget.shard_state.divides(elements, budget.replicas);
  return divided ? shard_elements(elements, budget.replicas) : elements;
}

/// What the stages on one IPU need together.
struct Need {
  std::vector<std::size_t> stages = {};  ///< of all replicas, each once
  std::int64_t weights = 0;
  std::int64_t state = 0;
  std::int64_t activations = 0;
  std::int64_t scratch = 0;
  std::array<std::int64_t, rooms> weight_rooms = {};

  std::int64_t weight_room() const {
    return std::accumulate(weight_rooms.begin(), weight_rooms.end(), std::int64_t{0});
  }
  std::int64_t total() const { return weights + state + activations + scratch + weight_room(); }

  void add(std::size_t stage, const StageBytes& bytes, const StateNeed& of_state,
           std::int32_t room) {
    if (std::ranges::count(stages, stage) == 0) stages.push_back(stage);
    weights += bytes.weights;
    activations += bytes.activations;
    scratch = std::max({scratch, bytes.scratch, of_state.staging_bytes});
    auto& weight_room = weight_rooms[index(room)];
    weight_room = std::max(weight_room, bytes.weight_room);
    state += of_state.bytes;
  }
};

/// A plan, how often, and what there is for it.
struct Case {
  const Plan& plan;
  std::int64_t replicas;
  const MemoryBudget& budget;

  /// By IPU, under another schedule or the plan's own.
  std::map<std::int64_t, Need> needs(const Schedule* schedule = nullptr) const {
    std::map<std::int64_t, Need> result;
    const std::size_t stages = plan.stages.size();
    for (std::int64_t replica = 0; replica < replicas; ++replica)
      for (std::size_t stage = 0; stage < stages; ++stage)
        result[ipu_of(plan, replica, stage)].add(
            stage, bytes_of_stage(plan, stage, schedule), state_need(plan, stage, budget),
            room_of(plan.phases, static_cast<std::int32_t>(stage)));
    return result;
  }
};

std::string stages_text(const std::vector<std::size_t>& stages) {
  std::string text = stages.size() == 1 ? "stage " : "stages ";
  for (std::size_t i = 0; i < stages.size(); ++i)
    text += (i == 0 ? "" : i + 1 == stages.size() ? " and " : ", ") + std::to_string(stages[i]);
  return text;
}

std::string parts_text(const Need& need) {
  std::string text = size_text(need.weights + need.weight_room()) + " for weights and gradients, ";
  if (need.state > 0) text += size_text(need.state) + " for the optimizer's state, ";
  return text + size_text(need.activations) + " for micro-batches in flight, " +
         size_text(need.scratch) + " for scratch";
}

/// Samples per micro-batch with which the IPU would do, if memory goes with their number; 0: none.
std::int64_t batch_that_fits(const Case& failed, const Need& need) {
  const auto fixed = static_cast<double>(need.weights + need.weight_room() + need.state);
  const auto per_batch = static_cast<double>(need.activations + need.scratch);
  const double share = (static_cast<double>(failed.budget.bytes) - fixed) / per_batch;
  return static_cast<std::int64_t>(std::clamp(share, 0.0, 1.0) *
                                   static_cast<double>(failed.plan.batch));
}

/// The alternatives that would make that IPU's stages fit.
std::vector<std::string> alternatives_that_fit(const Case& failed,
                                               const std::vector<Alternative>& alternatives,
                                               std::int64_t ipu) {
  std::vector<std::string> found;
  int enough = 0;  // classes in the host store
  for (const Alternative& alternative : alternatives) {
    if (enough > 0 && alternative.classes > enough) continue;
    MemoryBudget budget = failed.budget;
    budget.offload_state.on |= alternative.offload_state;
    const Plan plan = alternative.plan();
    const std::int64_t total = Case{plan, failed.replicas, budget}.needs().at(ipu).total();
    if (total > budget.bytes) continue;
    found.push_back(alternative.name + ", which needs " + size_text(total));
    enough = std::max(enough, alternative.classes);
  }
  return found;
}

/// What would make that IPU's stages fit, one remedy by one.
std::vector<std::string> remedies(const Case& failed, const std::vector<Alternative>& alternatives,
                                  std::int64_t ipu, const Need& need) {
  std::vector<std::string> found = alternatives_that_fit(failed, alternatives, ipu);
  MemoryBudget sharding = failed.budget;
  sharding.shard_state.on = true;
  const std::int64_t sharded = Case{failed.plan, failed.replicas, sharding}.needs().at(ipu).total();
  if (!failed.budget.shard_state.on && sharded <= sharding.bytes)
    found.push_back(
        "the optimizer's state divided among the replicas "
        "(options.training.sharding.optimizer_state), which needs " +
        size_text(sharded));
  for (const Schedule* schedule : all_schedules()) {
    if (!failed.plan.phases.none()) break;  // a turn decides what is in flight
    const std::int64_t total = failed.needs(schedule).at(ipu).total();
    if (total <= failed.budget.bytes)
      found.push_back("the schedule " + std::string(schedule->name) + ", which needs " +
                      size_text(total));
  }
  if (const std::int64_t batch = batch_that_fits(failed, need); batch > 0)
    found.push_back("micro-batches of about " + std::to_string(batch) + " samples instead of " +
                    std::to_string(failed.plan.batch));
  found.emplace_back(need.stages.size() > 1 ? "fewer stages on the IPU" : "smaller stages");
  return found;
}

[[noreturn]] void refuse(const Case& failed, const std::vector<Alternative>& alternatives,
                         std::int64_t ipu, const Need& need) {
  std::string text = "options.topology.ipu_memory_bytes: " + stages_text(need.stages) + " on IPU " +
                     std::to_string(ipu) + (need.stages.size() == 1 ? " needs " : " need ") +
                     size_text(need.total()) + " (" + parts_text(need) + "), an IPU has " +
                     size_text(failed.budget.bytes) + "; what would help: ";
  const auto help = remedies(failed, alternatives, ipu, need);
  for (std::size_t i = 0; i < help.size(); ++i) text += (i > 0 ? "; or " : "") + help[i];
  throw Error(Errc::out_of_memory, text);
}

}  // namespace

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
                              .sum = variable.gradients[0].on_host,
                              .elementwise = kept.elementwise,
                              .weight = variable.on_host,
                              .measured = elements < whole && !kept.elementwise ? whole : 0}));
  }
  return need;
}

std::map<std::int64_t, std::int64_t> needed_bytes(const Plan& plan, std::int64_t replicas,
                                                  const MemoryBudget& budget) {
  std::map<std::int64_t, std::int64_t> bytes;
  for (const auto& [ipu, need] : Case{plan, replicas, budget}.needs()) bytes[ipu] = need.total();
  return bytes;
}

bool fits(const Plan& plan, std::int64_t replicas, const MemoryBudget& budget) {
  if (budget.bytes == 0) return true;
  const auto needs = Case{plan, replicas, budget}.needs();
  return std::ranges::all_of(needs,
                             [&](const auto& each) { return each.second.total() <= budget.bytes; });
}

void expect_fit(const Plan& plan, std::int64_t replicas, const MemoryBudget& budget,
                const std::vector<Alternative>& alternatives) {
  if (budget.bytes == 0) return;
  const Case given{plan, replicas, budget};
  for (const auto& [ipu, need] : given.needs())
    if (need.total() > budget.bytes) refuse(given, alternatives, ipu, need);
}

std::string size_text(std::int64_t bytes) {
  constexpr std::array<const char*, 4> units{"B", "kB", "MB", "GB"};
  double size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 999.95 && unit + 1 < units.size(); ++unit) size /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", size, units[unit]);
  return text.data();
}

}  // namespace penstock::graph
