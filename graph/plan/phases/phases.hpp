// Phases are groups of consecutive stages that take turns. A stage begins a turn in a direction
// when all micro-batches of the turn have come to it from the phase before. Turns thus pass along
// the edges of the plan, and no actor hands them out. Phases are plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/plan/phases/phase_numbers.hpp"

namespace penstock::graph {

struct Phases {
  /// `of_stage` has the phase of each stage, ascending from 0. If the list is empty, there are no
  /// phases.
  std::vector<std::int32_t> of_stage = {};
  std::vector<PhaseNumbers> numbers = {};  ///< `numbers` has the numbers of each phase.
  std::int32_t turn = 1;                   ///< A phase does this many micro-batches in one turn.
  /// `parallel` says whether even and odd phases are on different IPUs.
  bool parallel = false;

  bool none() const noexcept { return of_stage.empty(); }
  /// Returns whether two stages pass micro-batches on one by one, as stages of one phase do, and as
  /// all stages do if there are no phases.
  bool together(std::int32_t stage, std::int32_t other) const {
    return none() ||
           of_stage[static_cast<std::size_t>(stage)] == of_stage[static_cast<std::size_t>(other)];
  }
  /// Returns whether all forwards of a stage's turn come before the turn's first backward.
  bool separates_backward(std::int32_t stage) const {
    if (none()) return false;
    const auto& [forward, backward] =
        numbers[static_cast<std::size_t>(of_stage[static_cast<std::size_t>(stage)])];
    return forward != backward;
  }
  /// Returns the first micro-batch of the turn to which `micro_batch` belongs.
  std::int64_t turn_begin(std::int64_t micro_batch) const {
    return micro_batch - micro_batch % turn;
  }
};

}  // namespace penstock::graph
