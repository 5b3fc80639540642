// These functions make profiles of simulated pipelines, so that it is known exactly what a profile
// ought to say.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/profile/profile_recorder.hpp"
#include "graph/plan/plan.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "graph/plan/schedules/simulator.hpp"

namespace penstock::testing {

/// Returns a plan of `stages` stages without programs, each on an IPU of its own.
inline std::shared_ptr<const graph::Plan> chain_plan(int stages, bool training,
                                                     const graph::Schedule& schedule) {
  graph::Plan plan{.name = "chain", .training = training, .schedule = &schedule};
  for (int stage = 0; stage < stages; ++stage) {
    graph::StagePlan& row = plan.stages.emplace_back();
    row.ipu = stage;
    row.blocks = {"B" + std::to_string(stage + 1)};
    row.in_flight = schedule.in_flight(stage, stages);
  }
  return std::make_shared<const graph::Plan>(std::move(plan));
}

/// Returns the events of a simulated window that begins at `begin_ns`, and whose first micro-batch
/// has the number `first`. A unit of the simulation's costs is a second.
inline std::vector<TraceEvent> events_of(const graph::Timeline& timeline, std::int64_t first,
                                         std::int64_t begin_ns) {
  std::vector<TraceEvent> events;
  for (const graph::Run& run : timeline.runs) {
    const bool forward = run.direction == Direction::forward;
    const auto at = [&](double time) { return begin_ns + static_cast<std::int64_t>(time * 1e9); };
    events.push_back({.ipu = timeline.ipus[static_cast<std::size_t>(run.stage)],
                      .stage = run.stage,
                      .activity = forward ? Activity::forward : Activity::backward,
                      .waited_for = forward ? WaitReason::input : WaitReason::gradient,
                      .micro_batch = first + run.micro_batch,
                      .ready_ns = at(run.time),
                      .begin_ns = at(run.time),
                      .end_ns = at(run.time + run.duration)});
  }
  return events;
}

/// Returns a recorder that has seen `calls` calls of one window each, as `simulation` runs them.
inline ProfileRecorder recorded(const std::shared_ptr<const graph::Plan>& plan,
                                const graph::Simulation& simulation, int calls) {
  const graph::Timeline timeline = graph::simulate(simulation);
  const auto span = static_cast<std::int64_t>(timeline.total_time * 1e9);
  ProfileRecorder recorder(plan, 1, simulation.micro_batches);
  for (std::int64_t call = 0; call < calls; ++call) {
    const std::int64_t first = call * simulation.micro_batches, begin = call * 2 * span;
    recorder.add_call({.first_micro_batch = first,
                       .micro_batches = simulation.micro_batches,
                       .begin_ns = begin,
                       .end_ns = begin + span},
                      simulation.micro_batches, events_of(timeline, first, begin));
    recorder.leave(begin + span);
  }
  return recorder;
}

}  // namespace penstock::testing
