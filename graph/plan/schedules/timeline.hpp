// A Timeline says what a simulated pipeline did, run by run. It is plain data. The functions
// compute figures and texts from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/plan/schedules/schedules.hpp"

namespace penstock::graph {

/// Is one run of a stage's program. Times and durations are in the unit of the costs.
struct Run {
  double time = 0;
  double duration = 1;
  int stage = 0;
  Direction direction = Direction::forward;
  int micro_batch = 0;  ///< Numbers the micro-batch, counted from 0.
  int slot = 0;         ///< Is the slot that the run is in, in lock step.
};

/// Says what a stage lacks before it can run in a direction for a micro-batch.
struct Wait {
  enum class For : std::uint8_t {
    activation,  ///< The stage waits for an activation from the stage before.
    /// The stage waits for a gradient from the stage after or, in the last stage, for its own
    /// forward.
    gradient,
    credit,  ///< The stage holds as many micro-batches as it may.
    /// Micro-batches pass one at a time, or in turns, and others are still in the pipeline.
    turn,
  };

  int stage = 0;
  Direction direction = Direction::forward;
  int micro_batch = 0;
  For what = For::activation;
};

/// Returns a text such as "stage 1: forward of micro-batch 0 waits for a credit".
std::string to_string(const Wait& wait);

struct Timeline {
  std::vector<Run> runs;  ///< Has the runs by time, then by stage.
  std::vector<int> ipus;  ///< Has the IPU of each stage.
  /// Has, for each stage, the most micro-batches that it ever held.
  std::vector<int> max_in_flight;
  double total_time = 0;
  std::vector<Wait> stalled;  ///< Says why unfinished stages wait; empty if all work was done.
};

/// Returns the share of the time, from 0 to 1, that the IPUs in use were busy.
double utilization(const Timeline& timeline);

/// Returns the run with which the pipeline is full, so that no stage waits any longer for its first
/// work in a direction: the first backward of stage 0 or, in inference, the first forward of the
/// last stage. Returns null if that run never comes.
const Run* run_that_fills(const Timeline& timeline);
/// Returns how many micro-batches stage 0 has begun when the pipeline is full, or how many it has
/// begun in all if the pipeline never is full.
int ramp(const Timeline& timeline);

/// Returns a table of a simulation in lock step. It has a row per slot and, headed by its IPU, a
/// column per stage; F1 stands for the forward and B1 for the backward of the first micro-batch,
/// and "." for no run.
std::string to_table(const Timeline& timeline);

}  // namespace penstock::graph
