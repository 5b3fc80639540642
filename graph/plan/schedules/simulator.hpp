// Simulator: runs a schedule's policy over a pipeline without actors, to predict its timeline, to
// compare schedules, and to check before a run that nothing can wait for ever. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/plan/phases/phases.hpp"
#include "graph/plan/schedules/schedule.hpp"
#include "graph/plan/schedules/timeline.hpp"

namespace penstock::graph {

/// When a stage may start what its schedule lets it do. In lock step what one stage makes reaches
/// the others at the end of the slot, and the unit decides the direction: of the schedule only its
/// bounds count. A slot lasts as many units as it has; with costs, until the stage with the most
/// work in it is done.
enum class Discipline : std::uint8_t {
  free_running,         ///< as soon as inputs, credit and IPU are there: what the actors do
  popart_cycle,         ///< a slot of two units: each stage a forward, then a backward
  tf_grouped_step,      ///< a slot of two units: each stage a backward, then a forward
  tf_interleaved_slot,  ///< a slot of one unit: neighbours alternate forward and backward
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
  bool training =
      true;  ///< false: forwards only; a stage holds a micro-batch until the next has it
  std::vector<StageCost> costs = {};  ///< per stage; empty: one unit each
  std::vector<int> ipus =
      {};              ///< per stage; empty: its own each; free running only. An IPU runs one
                       ///< stage at a time, whichever has waited longest, later stages first
  Phases phases = {};  ///< none: the schedule's bounds; else what it prefers; free running only
  int processors = 0;  ///< IPUs that can be at work at the same time; 0: all; free running only
};

/// The timeline of one window of micro-batches, from an empty pipeline to an empty pipeline. Work
/// that can never start is reported in `stalled`.
/// @throws Error invalid_argument if a number is out of range or a list has the wrong length.
Timeline simulate(const Simulation& simulation);

}  // namespace penstock::graph
