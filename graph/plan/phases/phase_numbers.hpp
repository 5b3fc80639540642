// A phase has a number for its forward and a number for its backward. The numbers say when things
// happen: at number n, the phase with number n computes, the tensors of the phase with number n+1
// come to the IPU, and those of the phase with number n-1 leave it. The functions are pure.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/options.hpp"

namespace penstock::graph {

/// A PhaseNumbers has the numbers at which a phase computes.
struct PhaseNumbers {
  std::int32_t forward = 0;
  std::int32_t backward = 0;

  bool operator==(const PhaseNumbers&) const = default;
};

/// A tensor stays on its IPU between two uses if the numbers of the uses are no more than this far
/// apart; otherwise it leaves.
inline constexpr std::int32_t longest_stay = 2;

/// Returns the numbers of `phases` phases, by phase. The forward and the backward number of a phase
/// are both even or both odd. The last phase's backward has the number of its forward, unless
/// `separate_backward` or `liveness` says otherwise.
std::vector<PhaseNumbers> number_phases(std::int32_t phases, PhaseLiveness liveness,
                                        bool separate_backward);

}  // namespace penstock::graph
