// The memory profile says what the memory of each IPU is for, as the compiler has laid it out and
// the arenas have allocated it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/plan/plan.hpp"
#include "penstock/profile.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// Fills in the memory of the IPUs and of the stages of `profile`. `reports` are those of all
/// stages, replica by replica. `budget_bytes` is the memory that each IPU has; 0 says that there is
/// no limit.
void add_memory(Profile& profile, const graph::Plan& plan, std::span<const StageReport> reports,
                std::int64_t budget_bytes);

/// Returns how many bytes of scratch, workspace and stash are in use at each instruction of a
/// stage's programs, forward first.
std::vector<LivePoint> live_points(const graph::StagePlan& stage);

}  // namespace penstock
