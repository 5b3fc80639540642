// These are all schedules that there are.
#pragma once

#include <span>
#include <string_view>

#include "graph/plan/schedules/schedule.hpp"

namespace penstock::graph {

/// Lets a stage hold as many forwards as the round trip to the last stage is long, which gives the
/// highest throughput under a cycle-synchronous discipline, and the most activations.
extern const Schedule grouped;
/// Makes a stage do one forward and one backward in turn (1F1B), which takes about half the
/// activations of `grouped`.
extern const Schedule interleaved;
/// Makes the pipeline work on one micro-batch at a time.
extern const Schedule sequential;

/// Returns the schedule called `name`. @throws Error invalid_argument if there is none; the text
/// lists the names.
const Schedule& find_schedule(std::string_view name);
/// Returns every schedule, in the order of their names.
std::span<const Schedule* const> all_schedules();

}  // namespace penstock::graph
