// This pass says whether a plan's stages fit into the memory of their IPUs. It is pure.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/plan/phases/residency.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

/// KeptState is what state an optimizer keeps for a parameter.
struct KeptState {
  /// This is the number of state tensors, each of which has the parameter's size.
  std::int32_t tensors = 0;
  bool elementwise = true;  ///< If this is true, an update may work piece by piece.
};

struct MemoryBudget {
  /// Each IPU has this many bytes of memory; 0 says that there is no limit.
  std::int64_t bytes = 0;
  /// Returns what state the optimizer keeps for the parameter called `parameter`. If the function
  /// is null, no state is kept.
  std::function<KeptState(const std::string& parameter)> state = {};
  Offload offload_state = {};
  ReplicaSharding shard_state = {};
  std::int64_t replicas = 1;  ///< This is the number of replicas, which may divide the state.
};

/// A StateNeed is the memory that the weight updates of a stage need on its IPU.
struct StateNeed {
  std::int64_t bytes = 0;  ///< The IPU keeps this many bytes of optimizer state.
  /// Updates need this many bytes of scratch, in which they work on tensors that the host store
  /// keeps.
  std::int64_t staging_bytes = 0;
};
StateNeed state_need(const Plan& plan, std::size_t stage, const MemoryBudget& budget);

/// An IpuNeed is how many bytes the stages on one IPU need together. The stages share the IPU's
/// scratch, and its rooms for weights, each of which takes the weights of one stage at a time.
struct IpuNeed {
  /// These are the numbers of the stages that the IPU has in any replica, each number once.
  std::vector<std::size_t> stages = {};
  std::int64_t weights = 0;
  std::int64_t state = 0;
  std::int64_t activations = 0;
  std::int64_t scratch = 0;
  std::array<std::int64_t, rooms> weight_rooms = {};

  std::int64_t weight_room() const;
  std::int64_t total() const;
  /// Adds the needs of stage `stage`. The stage's weights come into the room number `room`.
  void add(std::size_t stage, const StageBytes& bytes, const StateNeed& of_state,
           std::int32_t room);
};

/// Returns what each IPU needs for all replicas of `plan`, by the IPU's number. The plan runs under
/// `schedule` or, if that is null, under its own schedule.
std::map<std::int64_t, IpuNeed> ipu_needs(const Plan& plan, std::int64_t replicas,
                                          const MemoryBudget& budget,
                                          const Schedule* schedule = nullptr);
/// Returns how many bytes each IPU needs in all, by the IPU's number.
std::map<std::int64_t, std::int64_t> needed_bytes(const Plan& plan, std::int64_t replicas,
                                                  const MemoryBudget& budget);
/// Returns whether no IPU needs more memory than `budget` gives it.
bool fits(const Plan& plan, std::int64_t replicas, const MemoryBudget& budget);

/// Returns a number of bytes as a text such as "900 B", "12.3 kB", "1.5 MB" or "2.0 GB".
std::string size_text(std::int64_t bytes);

}  // namespace penstock::graph
