// This pass puts stages into phases, before the stages have their IPUs and after. It is pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/passes/stages/stages.hpp"
#include "graph/plan/phases/phases.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

struct PhaseRequest {
  bool parallel = false;
  /// Counts the stages of each phase. If it is empty, each phase has one.
  std::vector<std::int32_t> stages = {};
  PhaseLiveness liveness = PhaseLiveness::always_live;
  bool separate_backward = false;
  std::int32_t turn = 1;  ///< Counts the micro-batches that a phase does in one turn.
};

/// Returns the stages with the phases that they are put into, in order. A stage for which nobody
/// names an IPU will be on that of its place in its phase: 0, 1, ... in serial phases, 0, 2, ... in
/// even parallel ones, and 1, 3, ... in odd parallel ones.
std::vector<StageRequest> grouped_into_phases(std::vector<StageRequest> stages,
                                              const PhaseRequest& request);

/// Returns the phases of stages that have their IPUs. A phase all of whose stages were left out is
/// none.
/// @throws Error invalid_topology, whether stages were left out or not, if two stages of a phase
/// were placed on one IPU, a serial phase on an IPU that the one with the most stages is not on, or
/// an even parallel phase on an IPU that is odd, or the reverse.
Phases assign_phases(const StageAssignment& assignment, const PhaseRequest& request);

}  // namespace penstock::graph
