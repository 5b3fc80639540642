#pragma once

#include "graph/plan/schedules/schedule.hpp"

namespace penstock::graph {

/// One micro-batch in the whole pipeline, so one stage works at a time: for debugging, and what the
/// sharded strategy runs.
extern const Schedule sequential;

}  // namespace penstock::graph
