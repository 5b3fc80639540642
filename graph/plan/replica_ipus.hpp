// ReplicaIpus says where the replicas of a plan are: each replica is like the first one, on IPUs of
// higher numbers, and no two replicas share an IPU. All functions are pure.
#pragma once

#include <cstdint>
#include <span>

#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// Returns the shift of replicas: how much higher each replica's IPUs are than those of the replica
/// before it. `of_stages` has the IPUs of the first replica, stage by stage. The shift is the
/// number of stages, or the next larger number by which none of `replicas` replicas meets another.
/// Parallel phases leave IPUs out and share others: their shift keeps even phases on even IPUs and
/// any number of replicas apart.
std::int64_t replica_shift(std::span<const std::int32_t> of_stages, std::int64_t replicas,
                           bool parallel_phases);

/// Says where the stages of a plan are in each of its replicas.
class ReplicaIpus {
 public:
  /// Makes a table for `plan`, which outlives this object.
  ReplicaIpus(const Plan& plan, std::int64_t replicas);
  /// Returns the IPU of a replica's stage.
  std::int64_t of(std::int64_t replica, std::size_t stage) const {
    return plan_.stages[stage].ipu + replica * shift_;
  }

 private:
  const Plan& plan_;
  std::int64_t shift_;
};

/// Returns how many IPUs all replicas use; `of_stages` has the IPUs of the first replica's stages.
std::int32_t used_ipus(std::span<const std::int32_t> of_stages, std::int64_t replicas);

}  // namespace penstock::graph
