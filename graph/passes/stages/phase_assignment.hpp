// Pass: stages to phases, before the stages have their IPUs and after. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/passes/stages/stages.hpp"
#include "graph/plan/phases/phases.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

struct PhaseRequest {
  bool parallel = false;
  std::vector<std::int32_t> stages = {};  ///< how many each phase has; empty: one each
  PhaseLiveness liveness = PhaseLiveness::always_live;
  bool separate_backward = false;
  std::int32_t turn = 1;  ///< micro-batches that a phase does in one turn
};

/// Returns the stages with the phases that they are put into, in order. A stage for which nobody
/// names an IPU will be on that of its place in its phase: 0, 1, ... of serial phases, 0, 2, ... of
/// parallel ones that are even, 1, 3, ... of those that are odd.
std::vector<StageRequest> grouped_into_phases(std::vector<StageRequest> stages,
                                              const PhaseRequest& request);

/// The phases of stages that have their IPUs; a phase whose stages were all left out is none.
/// @throws Error invalid_topology, whether stages were left out or not, if two stages of a phase
/// were placed on one IPU, a serial phase on an IPU that the one with the most stages is not on, or
/// a parallel one on an IPU that is odd where it is even.
Phases assign_phases(const StageAssignment& assignment, const PhaseRequest& request);

}  // namespace penstock::graph
