// A ReplicaIpus says where the replicas of a plan are: each replica is like the first one, on IPUs
// of higher numbers, and no two replicas share an IPU. All functions are pure.
#pragma once

#include <cstdint>
#include <span>

#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// Returns the shift of replicas: how much higher the numbers of each replica's IPUs are than those
/// of the replica before. `of_stages` has the IPUs of the first replica, stage by stage. The shift
/// is the number of stages or, if `replicas` replicas would then share an IPU, the next larger
/// number with which they share none. In parallel phases, the shift is even, so that even phases
/// are on even IPUs in all replicas, and large enough for any number of replicas.
std::int64_t replica_shift(std::span<const std::int32_t> of_stages, std::int64_t replicas,
                           bool parallel_phases);

/// A ReplicaIpus says where the stages of a plan are in each replica of the plan.
class ReplicaIpus {
 public:
  /// Makes a table for `plan`, which outlives this object.
  ReplicaIpus(const Plan& plan, std::int64_t replicas);
  /// Returns the IPU of stage number `stage` in replica number `replica`.
  std::int64_t of(std::int64_t replica, std::size_t stage) const {
    return plan_.stages[stage].ipu + replica * shift_;
  }

 private:
  const Plan& plan_;
  std::int64_t shift_;
};

/// Returns how many IPUs all replicas use together; `of_stages` has the IPUs of the first replica's
/// stages.
std::int32_t used_ipus(std::span<const std::int32_t> of_stages, std::int64_t replicas);

}  // namespace penstock::graph
