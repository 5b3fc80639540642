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

/// Says what an optimizer keeps of a parameter.
struct KeptState {
  std::int32_t tensors = 0;  ///< Counts the tensors of the parameter's size.
  bool elementwise = true;   ///< Says whether an update may work on pieces of them.
};

struct MemoryBudget {
  std::int64_t bytes = 0;  ///< Is the memory of each IPU; 0 stands for no limit.
  /// Says what is kept of a parameter. If it is null, nothing is kept.
  std::function<KeptState(const std::string& parameter)> state = {};
  Offload offload_state = {};
  ReplicaSharding shard_state = {};
  std::int64_t replicas = 1;  ///< Counts the replicas that may divide state.
};

/// Is what updates ask of a stage's IPU.
struct StateNeed {
  std::int64_t bytes = 0;  ///< Counts the bytes of optimizer state that is kept there.
  /// Counts the bytes of scratch in which updates work on what is kept in the host store.
  std::int64_t staging_bytes = 0;
};
StateNeed state_need(const Plan& plan, std::size_t stage, const MemoryBudget& budget);

/// Is what the stages on one IPU need together. They share its scratch and its rooms for weights.
struct IpuNeed {
  std::vector<std::size_t> stages = {};  ///< Has the stages of all replicas, each once.
  std::int64_t weights = 0;
  std::int64_t state = 0;
  std::int64_t activations = 0;
  std::int64_t scratch = 0;
  std::array<std::int64_t, rooms> weight_rooms = {};

  std::int64_t weight_room() const;
  std::int64_t total() const;
  /// Adds a stage whose weights come into the room `room`.
  void add(std::size_t stage, const StageBytes& bytes, const StateNeed& of_state,
           std::int32_t room);
};

/// Returns what each IPU needs for all replicas of a plan, by its number. The plan runs under
/// `schedule`, or under its own schedule if that is null.
std::map<std::int64_t, IpuNeed> ipu_needs(const Plan& plan, std::int64_t replicas,
                                          const MemoryBudget& budget,
                                          const Schedule* schedule = nullptr);
/// Returns the bytes that each IPU needs, by its number.
std::map<std::int64_t, std::int64_t> needed_bytes(const Plan& plan, std::int64_t replicas,
                                                  const MemoryBudget& budget);
/// Returns whether no IPU needs more than it has.
bool fits(const Plan& plan, std::int64_t replicas, const MemoryBudget& budget);

/// Returns a text such as "900 B", "12.3 kB", "1.5 MB" or "2.0 GB".
std::string size_text(std::int64_t bytes);

}  // namespace penstock::graph
