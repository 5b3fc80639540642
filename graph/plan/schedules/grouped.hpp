#pragma once

#include "graph/plan/schedules/schedule.hpp"

namespace penstock::graph {

/// As many forwards as the round trip to the last stage is long: the highest throughput under a
/// cycle-synchronous discipline, and the most activations.
extern const Schedule grouped;

}  // namespace penstock::graph
