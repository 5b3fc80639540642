// A Schedule is the policy that shapes a pipeline, as plain data. All schedules are listed in the
// source, and those that C++ code names are declared here. Their functions have no state and may
// run on any thread. A schedule does not say when anything runs, only how many micro-batches a
// stage may hold and which ready work the stage does first.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "penstock/trace.hpp"

namespace penstock::graph {

using penstock::Direction;

struct Schedule {
  /// Is the name in options and messages, such as "grouped".
  std::string_view name;
  /// Returns how many micro-batches stage `stage` (0 is the first) of `stages` may hold, each from
  /// the start of its forward to the end of its backward. The number is at least 1, and nothing
  /// else bounds a stage's stash.
  int (*in_flight)(int stage, int stages);
  /// Says which work goes first if a stage could do either.
  Direction prefers;
  /// Says whether the whole pipeline (each replica has one of its own) holds one micro-batch at a
  /// time, in inference, too: a micro-batch enters the first stage only after the one before it has
  /// left the pipeline.
  bool one_at_a_time = false;
};

/// Lets a stage hold as many micro-batches as there are stages on the way from it to the last stage
/// and back. That gives the highest throughput if stages work in lock step, and takes the most
/// memory for activations.
extern const Schedule grouped;
/// Makes a stage do one forward and one backward in turn (1F1B), which takes about half the
/// activations of `grouped`.
extern const Schedule interleaved;
/// Makes the pipeline work on one micro-batch at a time.
extern const Schedule sequential;

/// Returns the schedule called `name`. @throws Error invalid_argument if there is none; the text
/// lists the names.
const Schedule& find_schedule(std::string_view name);
/// Returns every schedule, in the order of their names.
std::span<const Schedule* const> all_schedules();

/// Returns what a stage does next, or nothing if neither direction is ready. `forward_ready` says
/// that a forward's inputs are there and the stage holds fewer than `in_flight` micro-batches;
/// `backward_ready` says that a backward's inputs are there.
std::optional<Direction> next_direction(const Schedule& schedule, bool forward_ready,
                                        bool backward_ready) noexcept;

}  // namespace penstock::graph
