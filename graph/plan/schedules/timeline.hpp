// A Timeline says what a simulated pipeline did, run by run. It is plain data. The functions
// compute figures and texts from a timeline.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/plan/schedules/schedules.hpp"

namespace penstock::graph {

/// A Run is one run of a stage's program. Times and durations are in the unit of the costs.
struct Run {
  double time = 0;
  double duration = 1;
  int stage = 0;
  Direction direction = Direction::forward;
  int micro_batch = 0;  ///< `micro_batch` is the number of the micro-batch, counted from 0.
  int slot = 0;         ///< In lock step, `slot` is the slot to which the run belongs.
};

/// A Wait says what a stage lacks before it can run in a direction for a micro-batch.
struct Wait {
  enum class For : std::uint8_t {
    activation,  ///< The stage waits for an activation from the stage before.
    /// The stage waits for a gradient from the stage after or, in the last stage, for its own
    /// forward.
    gradient,
    credit,  ///< The stage holds as many micro-batches as it may.
    /// The stage waits for earlier micro-batches, which have to leave the pipeline first.
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
  std::vector<Run> runs;  ///< `runs` are in the order of time, then of stage.
  std::vector<int> ipus;  ///< `ipus` has the IPU of each stage.
  /// `max_in_flight` has, for each stage, the most micro-batches that it ever held.
  std::vector<int> max_in_flight;
  double total_time = 0;
  /// `stalled` says why unfinished stages wait. It is empty if all work was done.
  std::vector<Wait> stalled;
};

/// Returns the share of the time, from 0 to 1, during which the IPUs in use were busy.
double utilization(const Timeline& timeline);

/// Returns the run with which the pipeline is full, so that no stage waits any longer for its first
/// work in a direction: the first backward of stage 0 or, in inference, the first forward of the
/// last stage. Returns null if that run never comes.
const Run* run_that_fills(const Timeline& timeline);
/// Returns how many micro-batches stage 0 has begun when the pipeline is full. If the pipeline
/// never is full, returns how many micro-batches stage 0 has begun in all.
int ramp(const Timeline& timeline);

/// Returns a table of a simulation in lock step. The table has a row per slot and a column per
/// stage, headed by the stage's IPU. F1 stands for the forward and B1 for the backward of the first
/// micro-batch, and "." for no run.
std::string to_table(const Timeline& timeline);

}  // namespace penstock::graph
