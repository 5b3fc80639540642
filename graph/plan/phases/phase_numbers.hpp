// The numbers of phases, on one clock for forward and backward: at number n a phase computes, the
// one of n+1 comes to the IPU, and the one of n-1 leaves it. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/options.hpp"

namespace penstock::graph {

/// When a phase computes.
struct PhaseNumbers {
  std::int32_t forward = 0;
  std::int32_t backward = 0;

  bool operator==(const PhaseNumbers&) const = default;
};

/// A tensor that is used at one number and next at a later one stays on its IPU in between if there
/// are no more than two steps from one to the other; else it leaves.
inline constexpr std::int32_t longest_stay = 2;

/// Of `phases` phases, by phase. The forward and the backward number of a phase have the same
/// parity. Unless `separate_backward`, or `liveness`, says otherwise, the last phase's backward has
/// the number of its forward.
std::vector<PhaseNumbers> number_phases(std::int32_t phases, PhaseLiveness liveness,
                                        bool separate_backward);

}  // namespace penstock::graph
