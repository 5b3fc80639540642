// Timeline: what a simulated pipeline did, run by run, and the questions one asks of it. Plain
// data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/plan/schedules/schedule.hpp"

namespace penstock::graph {

/// One run of a stage's program. Times and durations are in the unit of the costs.
struct Run {
  double time = 0;
  double duration = 1;
  int stage = 0;
  Direction direction = Direction::forward;
  int micro_batch = 0;  ///< 0 = first
  int slot = 0;         ///< that it is in, in lock step
};

/// What a stage needs before it can run a direction for a micro-batch.
struct Wait {
  enum class For : std::uint8_t {
    activation,  ///< of the stage before
    gradient,    ///< of the stage after; in the last stage, its own forward
    credit,      ///< it holds as many micro-batches as it may
    turn,        ///< one micro-batch at a time, and another is in the pipeline
  };

  int stage = 0;
  Direction direction = Direction::forward;
  int micro_batch = 0;
  For what = For::activation;
};

/// "stage 1: forward of micro-batch 0 waits for a credit".
std::string to_string(const Wait& wait);

struct Timeline {
  std::vector<Run> runs;           ///< by time, then by stage
  std::vector<int> ipus;           ///< of each stage
  std::vector<int> max_in_flight;  ///< of each stage: the most micro-batches it ever held
  double total_time = 0;
  std::vector<Wait> stalled;  ///< empty if the work was finished, else who waits for what
};

/// The share of their time that the IPUs in use were busy, in [0, 1].
double utilization(const Timeline& timeline);

/// The run with which the pipeline is full, so that no stage waits any more for its first work in a
/// direction: the first backward of stage 0 or, in inference, the last stage's first forward. Null
/// if that never comes.
const Run* run_that_fills(const Timeline& timeline);
/// How many micro-batches stage 0 has begun when that run begins: all, if it never does.
int ramp(const Timeline& timeline);

/// Of lock step: a row per slot, a column per stage headed by its IPU, F1 for the forward and B1
/// for the backward of the first micro-batch in the slot that they are in, "." for none.
std::string to_table(const Timeline& timeline);

}  // namespace penstock::graph
