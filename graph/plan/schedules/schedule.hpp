// A Schedule is the policy that shapes a pipeline, as plain data. Its functions have no state and
// may run on any thread. It does not say when anything runs, only how much a stage may hold and
// which ready work the stage does first. All schedules are in graph/plan/schedules/schedules.cpp.
#pragma once

#include <optional>
#include <string_view>

#include "penstock/trace.hpp"

namespace penstock::graph {

using penstock::Direction;

struct Schedule {
  /// The name in options and messages, e.g. "grouped".
  std::string_view name;
  /// How many micro-batches stage `stage` (0 = first) of `stages` may hold: each from the start of
  /// its forward to the end of its backward. At least 1; nothing but this bounds a stage's stash.
  int (*in_flight)(int stage, int stages);
  /// Which work goes first where a stage could do either.
  Direction prefers;
  /// The whole pipeline (each replica's is its own) holds one micro-batch at a time, in inference
  /// too: it enters the first stage only after the one before it has left the pipeline.
  bool one_at_a_time = false;
};

/// What a stage does next: `forward_ready` says that a forward's inputs are there and the stage
/// holds fewer than `in_flight` micro-batches, `backward_ready` that a backward's inputs are there.
/// Nothing if neither is ready.
std::optional<Direction> next_direction(const Schedule& schedule, bool forward_ready,
                                        bool backward_ready) noexcept;

}  // namespace penstock::graph
