// A Division says which processes have the stages of a pipeline. Process 0 is the host's: it has
// the feed, the step, the gate and the supervisor. Every stage is in one process, with all its
// replicas, their IPUs, their optimizers and what the host store keeps for them. So far, only the
// messages of calls that run micro-batches, and new rules, go from process to process: the host
// learns neither of failures in other processes nor of what their IPUs do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/plan/plan.hpp"

namespace penstock::actors {

inline constexpr std::int32_t host_process = 0;

class Division {
 public:
  /// Makes the division in which the host's process has all stages.
  Division() = default;
  /// Makes the division of `plan` in which stage number i is in process number
  /// `process_of_stage[i]`, which is 0 or above.
  /// @throws Error invalid_topology if the numbers are not one for each stage, or if two stages
  /// that share memory are in different processes, because they are on one IPU or have copies of
  /// the same parameter.
  Division(const graph::Plan& plan, std::vector<std::int32_t> process_of_stage);

  std::int32_t process_of(std::size_t stage) const noexcept {
    return process_of_stage_.empty() ? host_process : process_of_stage_[stage];
  }

 private:
  std::vector<std::int32_t> process_of_stage_;
};

}  // namespace penstock::actors
