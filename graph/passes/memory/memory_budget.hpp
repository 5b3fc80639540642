// Pass: whether a plan's stages fit into the memory of their IPUs. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/plan/plan.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

/// What an optimizer keeps of a parameter.
struct KeptState {
  std::int32_t tensors = 0;  ///< of the parameter's size
  bool elementwise = true;   ///< an update may work on pieces of them
};

struct MemoryBudget {
  std::int64_t bytes = 0;                                             ///< of each IPU; 0: no limit
  std::function<KeptState(const std::string& parameter)> state = {};  ///< null: nothing is kept
  Offload offload_state = {};
  ReplicaSharding shard_state = {};
  std::int64_t replicas = 1;  ///< that may divide state
};

/// Another plan for the same model, for messages.
struct Alternative {
  std::string name = {};
  std::function<Plan()> plan = {};
  bool offload_state = false;  ///< with the optimizer's state in the host store
  /// How many classes of tensors it keeps in the host store that the plan does not. Where fewer are
  /// enough it is not offered. 0: it is about something else.
  int classes = 0;
};

/// The plan for so many samples per micro-batch; nothing where the model cannot have them.
using PlanOfBatch = std::function<std::optional<Plan>(std::int64_t samples)>;

/// What updates ask of a stage's IPU.
struct StateNeed {
  std::int64_t bytes = 0;          ///< of optimizer state kept there
  std::int64_t staging_bytes = 0;  ///< of scratch, to work on what is kept in the host store
};
StateNeed state_need(const Plan& plan, std::size_t stage, const MemoryBudget& budget);

/// What the stages of an IPU, of all replicas, need together, by IPU; they share its scratch.
std::map<std::int64_t, std::int64_t> needed_bytes(const Plan& plan, std::int64_t replicas,
                                                  const MemoryBudget& budget);
bool fits(const Plan& plan, std::int64_t replicas, const MemoryBudget& budget);
/// @throws Error out_of_memory for an IPU that has less: what its stages need and for what, and
/// what would help: what has been tried and fits on every IPU, of the alternatives, which come by
/// their `classes`, of schedules and of smaller micro-batches. `plan_of_batch` may be null; it is
/// asked for log2(plan.batch) + 1 plans at most.
void expect_fit(const Plan& plan, std::int64_t replicas, const MemoryBudget& budget,
                const std::vector<Alternative>& alternatives,
                const PlanOfBatch& plan_of_batch = {});

/// "900 B", "12.3 kB", "1.5 MB", "2.0 GB".
std::string size_text(std::int64_t bytes);

}  // namespace penstock::graph
