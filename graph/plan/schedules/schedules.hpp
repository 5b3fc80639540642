// A Schedule is the policy that shapes a pipeline, as plain data. All schedules are listed in
// schedules.cpp, and those that C++ code names are declared here. The functions of a schedule have
// no state and may run on any thread. A schedule does not say when anything runs, only how many
// micro-batches a stage may hold and which ready work the stage does first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "penstock/trace.hpp"

namespace penstock::graph {

using penstock::Direction;

struct Schedule {
  /// `name` is the name in options and messages, such as "grouped".
  std::string_view name;
  /// Returns how many micro-batches stage `stage` (0 is the first) of `stages` may hold, each from
  /// the start of its forward to the end of its backward. The number is at least 1.
  /// Unless the execution has phases, a stage's stash has room for just so many, or for those of a
  /// window if these are fewer.
  int (*in_flight)(int stage, int stages);
  /// `prefers` says which work goes first if a stage could do either.
  Direction prefers;
  /// `one_at_a_time` says whether the whole pipeline (each replica has one of its own) holds one
  /// micro-batch at a time, in inference, too: a micro-batch enters the first stage only after the
  /// one before it has left the pipeline.
  bool one_at_a_time = false;
};

/// With the schedule `grouped`, a stage holds as many micro-batches as there are stages on the way
/// from it to the last stage and back. That gives the highest throughput if stages work in lock
/// step, and takes the most memory for activations.
extern const Schedule grouped;
/// With the schedule `interleaved`, a stage does one forward and one backward in turn (1F1B), which
/// takes about half the memory for activations that `grouped` takes.
extern const Schedule interleaved;
/// With the schedule `sequential`, the pipeline works on one micro-batch at a time.
extern const Schedule sequential;

/// Returns how many micro-batches stage `stage` of `stages` holds at most if `window` micro-batches
/// lie between two updates, or any number of them if `window` is 0. The pipeline drains before an
/// update, so that a stage never holds more than a window.
int most_in_flight(const Schedule& schedule, int stage, int stages, std::int64_t window);

/// Returns the schedule called `name`. @throws Error invalid_argument if there is no such schedule;
/// the text lists the names of all schedules.
const Schedule& find_schedule(std::string_view name);
/// Returns all schedules, in the order of their names.
std::span<const Schedule* const> all_schedules();

/// Returns what a stage does next, or nothing if neither direction is ready. `forward_ready` says
/// that a forward's inputs are there and the stage holds fewer than `in_flight` micro-batches;
/// `backward_ready` says that a backward's inputs are there.
std::optional<Direction> next_direction(const Schedule& schedule, bool forward_ready,
                                        bool backward_ready) noexcept;

}  // namespace penstock::graph
