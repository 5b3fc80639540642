#include "graph/passes/memory/memory_budget.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "graph/passes/memory/ipu_memory_refusal.hpp"
#include "graph/plan/phases/residency.hpp"
#include "graph/plan/replica_ipus.hpp"
#include "graph/plan/shards.hpp"
#include "graph/plan/staging.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

constexpr std::int64_t element_bytes = 4;

/// Returns the elements that a replica keeps of each tensor of a parameter.
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
    const ReplicaIpus ipus(plan, replicas);
    for (std::int64_t replica = 0; replica < replicas; ++replica)
      for (std::size_t stage = 0; stage < stages; ++stage)
        result[ipus.of(replica, stage)].add(stage, bytes_of_stage(plan, stage, schedule),
                                            state_need(plan, stage, budget),
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

/// "recomputation, which needs 3.1 kB", by the plan that it leads to; nothing where some IPU has
/// less. Of several IPUs the bytes are those of the one that needs most.
std::optional<std::string> remedy(const std::string& name, const Case& then,
                                  const Schedule* schedule = nullptr) {
  const auto needs = then.needs(schedule);
  std::int64_t most = 0;
  for (const auto& [ipu, need] : needs) most = std::max(most, need.total());
  if (most > then.budget.bytes) return std::nullopt;
  return name + ", which needs " + size_text(most) +
         (needs.size() > 1 ? " on the fullest IPU" : "");
}

/// What would help a plan that does not fit, one remedy by one.
class Remedies {
 public:
  explicit Remedies(const Case& failed) : failed_(failed) {}

  void try_alternatives(const std::vector<Alternative>& alternatives) {
    int enough = 0;  // classes in the host store
    for (const Alternative& alternative : alternatives) {
      if (enough > 0 && alternative.classes > enough) continue;
      MemoryBudget budget = failed_.budget;
      budget.offload_state.on |= alternative.offload_state;
      const Plan plan = alternative.plan();
      if (add(remedy(alternative.name, {plan, failed_.replicas, budget})))
        enough = std::max(enough, alternative.classes);
    }
  }

  void try_shards() {
    MemoryBudget budget = failed_.budget;
    if (budget.shard_state.on) return;
    budget.shard_state.on = true;
    const std::string name =
        "the optimizer's state divided among the replicas "
        "(options.training.sharding.optimizer_state)";
    add(remedy(name, {failed_.plan, failed_.replicas, budget}));
  }

  void try_schedules() {
    if (!failed_.plan.phases.none()) return;  // a turn decides what is in flight
    for (const Schedule* schedule : all_schedules())
      add(remedy("the schedule " + std::string(schedule->name), failed_, schedule));
  }

  /// By bisection, for memory grows with the samples; where layouts change on the way it may miss
  /// a larger batch, but what it finds does fit.
  void try_batches(const PlanOfBatch& plan_of_batch) {
    std::optional<std::string> largest;
    std::int64_t fitting = 0, too_many = failed_.plan.batch;
    while (too_many - fitting > 1) {
      const std::int64_t samples = fitting + (too_many - fitting) / 2;
      const std::optional<Plan> plan = plan_of_batch(samples);
      auto found = plan ? remedy(batch_text(samples), {*plan, failed_.replicas, failed_.budget})
                        : std::nullopt;
      (found ? fitting : too_many) = samples;
      if (found) largest = std::move(found);
    }
    add(std::move(largest));
  }

  std::vector<std::string> take() { return std::move(found_); }

 private:
  bool add(std::optional<std::string> remedy) {
    if (!remedy) return false;
    found_.push_back(*std::move(remedy));
    return true;
  }

  std::string batch_text(std::int64_t samples) const {
    return "micro-batches of " + std::to_string(samples) + (samples == 1 ? " sample" : " samples") +
           " instead of " + std::to_string(failed_.plan.batch);
  }

  const Case& failed_;
  std::vector<std::string> found_;
};

[[noreturn]] void refuse(const Case& failed, const std::vector<std::string>& help, std::int64_t ipu,
                         const Need& need) {
  std::string text = "options.topology.ipu_memory_bytes: " + stages_text(need.stages) + " on IPU " +
                     std::to_string(ipu) + (need.stages.size() == 1 ? " needs " : " need ") +
                     size_text(need.total()) + " (" + parts_text(need) + "), an IPU has " +
                     size_text(failed.budget.bytes) + "; what would help: ";
  for (const std::string& each : help) text += each + "; or ";
  text += need.stages.size() > 1 ? "fewer stages on the IPU" : "smaller stages";
  throw IpuMemoryRefusal(text);
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
                const std::vector<Alternative>& alternatives, const PlanOfBatch& plan_of_batch) {
  if (budget.bytes == 0) return;
  const Case given{plan, replicas, budget};
  for (const auto& [ipu, need] : given.needs()) {
    if (need.total() <= budget.bytes) continue;
    Remedies remedies(given);
    remedies.try_alternatives(alternatives);
    remedies.try_shards();
    remedies.try_schedules();
    if (plan_of_batch) remedies.try_batches(plan_of_batch);
    refuse(given, remedies.take(), ipu, need);
  }
}

std::string size_text(std::int64_t bytes) {
  constexpr std::array<const char*, 4> units{"B", "kB", "MB", "GB"};
  double size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 999.95 && unit + 1 < units.size(); ++unit) size /= 1000;
  return decimal_text(size, unit == 0 ? 0 : 1) + ' ' + units[unit];
}

}  // namespace penstock::graph
