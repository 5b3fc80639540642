// This is a plan of two stages for tests of the memory that plans need.
#pragma once

#include <string>

#include "graph/plan/plan.hpp"
#include "graph/plan/schedules/schedules.hpp"

namespace penstock::graph {

/// Returns a plan of stages on IPUs 0 and 1. Each has a parameter of 1 kB with gradient sums of 1
/// kB, 1 kB of stash per micro-batch, and 0.5 kB of scratch. Under `grouped`, the first stage holds
/// three micro-batches and the second one holds one.
inline Plan two_stages(const Schedule& schedule = grouped) {
  Plan plan{.name = "test", .training = true, .batch = 40, .schedule = &schedule};
  for (std::int32_t i = 0; i < 2; ++i) {
    const int in_flight = schedule.in_flight(i, 2);
    plan.variables.push_back({.name = "w" + std::to_string(i), .stage = i});
    plan.stages.push_back({.ipu = i,
                           .variables = {{.variable = i,
                                          .type = {DType::f32, {250}},
                                          .trainable = true,
                                          .gradients = {{.stage = 0}}}},
                           .parameter_bytes = 1000,
                           .accumulator_bytes = 1000,
                           .stash_bytes = 1000,
                           .scratch_bytes = 500,
                           .in_flight = in_flight});
  }
  return plan;
}

}  // namespace penstock::graph
