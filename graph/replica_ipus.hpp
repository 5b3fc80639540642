// Where the replicas of a plan are: as the first, on IPUs whose numbers are higher. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "graph/plan.hpp"

namespace penstock::graph {

/// By how much each replica's IPUs are higher than those of the one before it, the first one's
/// given stage by stage: the number of stages. Parallel phases leave IPUs out and share others, so
/// theirs are as much higher as keeps replicas apart and even phases on even IPUs.
std::int64_t replica_shift(std::span<const std::int32_t> of_stages, bool parallel_phases);

/// The IPU of a replica's stage.
std::int64_t ipu_of(const Plan& plan, std::int64_t replica, std::size_t stage);

/// How many IPUs the stages of all replicas are on.
std::int32_t used_ipus(std::span<const std::int32_t> of_stages, std::int64_t replicas,
                       bool parallel_phases);

}  // namespace penstock::graph
