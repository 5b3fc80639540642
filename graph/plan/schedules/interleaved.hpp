#pragma once

#include "graph/plan/schedules/schedule.hpp"

namespace penstock::graph {

/// One forward, one backward in turn (1F1B): about half the activations of `grouped`.
extern const Schedule interleaved;

}  // namespace penstock::graph
