// The simulator runs a schedule's policy over a pipeline without actors, to predict the pipeline's
// timeline, to compare schedules, and to check before a run that nothing can wait for ever. The
// functions are pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/plan/phases/phases.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "graph/plan/schedules/timeline.hpp"

namespace penstock::graph {

/// A Discipline says when a stage may start what its schedule lets it do. The last three
/// disciplines work in lock step: time is divided into slots of one or two units, and what one
/// stage makes reaches the others at the end of a slot. The unit decides whether a stage runs a
/// forward or a backward, so that only the schedule's bounds on micro-batches count, and not its
/// preference. A unit takes a time of 1; with costs, a slot lasts until the stage with the most
/// work in it is done.
enum class Discipline : std::uint8_t {
  /// A stage starts as soon as its inputs, a credit and its IPU are there. The actors work in this
  /// way.
  free_running,
  /// A slot has two units: in each slot every stage does a forward, then a backward.
  popart_cycle,
  /// A slot has two units: in each slot every stage does a backward, then a forward.
  tf_grouped_step,
  /// A slot has one unit. Each stage does a forward and a backward in turn, and while one stage
  /// does a forward, its neighbours do a backward.
  tf_interleaved_slot,
};

struct StageCost {
  double forward = 1;
  double backward = 1;
};

struct Simulation {
  const Schedule& schedule;
  Discipline discipline = Discipline::free_running;
  int stages = 1;
  int micro_batches = 1;
  /// `training` says whether micro-batches go backward, too. Without backwards, a stage holds a
  /// micro-batch until the next stage has begun it.
  bool training = true;
  /// `costs` has the costs of each stage. If the list is empty, each run costs one unit.
  std::vector<StageCost> costs = {};
  /// `ipus` has the IPU of each stage. If the list is empty, each stage has an IPU of its own. An
  /// IPU runs one stage at a time: the stage that has waited longest or, if several have waited
  /// equally long, the last of them. Only with `free_running` may stages share IPUs.
  std::vector<int> ipus = {};
  /// `phases` are the phases, if there are any. Their turns replace the schedule's bounds on
  /// micro-batches, and only the schedule's preference counts then. Only with `free_running` may
  /// there be phases.
  Phases phases = {};
  /// This many IPUs can work at the same time; 0 stands for all. Only `free_running` has a limit.
  int processors = 0;
};

/// Returns the timeline of one window of micro-batches, from an empty pipeline to an empty
/// pipeline. Timeline::stalled reports work that can never start. @throws Error invalid_argument if
/// a number is out of range or a list has the wrong length.
Timeline simulate(const Simulation& simulation);

}  // namespace penstock::graph
