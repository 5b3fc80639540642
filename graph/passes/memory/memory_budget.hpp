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

/// Says what state an optimizer keeps for a parameter.
struct KeptState {
  std::int32_t tensors = 0;  ///< Counts the state tensors; each has the parameter's size.
  bool elementwise = true;   ///< Says whether an update may work piece by piece.
};

struct MemoryBudget {
  std::int64_t bytes = 0;  ///< Is the memory of each IPU; 0 says that there is no limit.
  /// Returns what state the optimizer keeps for the parameter called `parameter`. If the function
  /// is null, no state is kept.
  std::function<KeptState(const std::string& parameter)> state = {};
  Offload offload_state = {};
  ReplicaSharding shard_state = {};
  std::int64_t replicas = 1;  ///< Counts the replicas, which may divide the state.
};

/// Is the memory that weight updates of a stage need on its IPU.
struct StateNeed {
  std::int64_t bytes = 0;  ///< Counts the bytes of optimizer state that the IPU keeps.
  /// Counts the bytes of scratch in which updates work on tensors that the host store keeps.
  std::int64_t staging_bytes = 0;
};
StateNeed state_need(const Plan& plan, std::size_t stage, const MemoryBudget& budget);

/// Is how many bytes the stages on one IPU need together. The stages share the IPU's scratch and
/// its rooms for weights.
struct IpuNeed {
  /// Has the numbers of the stages that the IPU has in any replica, each number once.
  std::vector<std::size_t> stages = {};
  std::int64_t weights = 0;
  std::int64_t state = 0;
  std::int64_t activations = 0;
  std::int64_t scratch = 0;
  std::array<std::int64_t, rooms> weight_rooms = {};

  std::int64_t weight_room() const;
  std::int64_t total() const;
  /// Adds the needs of stage `stage`, whose weights come into the weight room number `room`.
  void add(std::size_t stage, const StageBytes& bytes, const StateNeed& of_state,
           std::int32_t room);
};

/// Returns, by the number of each IPU, what the IPU needs for all replicas of `plan`. The plan runs
/// under `schedule` or, if that is null, under its own schedule.
std::map<std::int64_t, IpuNeed> ipu_needs(const Plan& plan, std::int64_t replicas,
                                          const MemoryBudget& budget,
                                          const Schedule* schedule = nullptr);
/// Returns, by the number of each IPU, how many bytes the IPU needs in all.
std::map<std::int64_t, std::int64_t> needed_bytes(const Plan& plan, std::int64_t replicas,
                                                  const MemoryBudget& budget);
/// Returns whether no IPU needs more memory than it has by `budget`.
bool fits(const Plan& plan, std::int64_t replicas, const MemoryBudget& budget);

/// Returns a number of bytes as a text such as "900 B", "12.3 kB", "1.5 MB" or "2.0 GB".
std::string size_text(std::int64_t bytes);

}  // namespace penstock::graph
