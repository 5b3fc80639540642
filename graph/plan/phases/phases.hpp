// Phases: groups of consecutive stages that have turns. A stage begins a turn in a direction when
// all micro-batches of the turn have come to it from the phase before; so the turns pass along the
// edges of the plan, and nobody hands them out. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/plan/phases/phase_numbers.hpp"

namespace penstock::graph {

struct Phases {
  std::vector<std::int32_t> of_stage = {};  ///< ascending from 0; empty: stages have no turns
  std::vector<PhaseNumbers> numbers = {};   ///< by phase
  std::int32_t turn = 1;                    ///< micro-batches that a phase does in one turn
  bool parallel = false;                    ///< even and odd phases are on different IPUs

  bool none() const noexcept { return of_stage.empty(); }
  /// Stages of one phase pass micro-batches on one by one, as all do where there are no phases.
  bool together(std::int32_t stage, std::int32_t other) const {
    return none() ||
           of_stage[static_cast<std::size_t>(stage)] == of_stage[static_cast<std::size_t>(other)];
  }
  /// Whether all forwards of a stage's turn come before its first backward.
  bool separates_backward(std::int32_t stage) const {
    if (none()) return false;
    const auto& [forward, backward] =
        numbers[static_cast<std::size_t>(of_stage[static_cast<std::size_t>(stage)])];
    return forward != backward;
  }
  /// The first micro-batch of the turn that a micro-batch is in.
  std::int64_t turn_begin(std::int64_t micro_batch) const {
    return micro_batch - micro_batch % turn;
  }
};

}  // namespace penstock::graph
