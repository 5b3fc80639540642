// This pass puts stages into phases: grouped_into_phases() before the stages have their IPUs, and
// assign_phases() afterwards. It is pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/passes/stages/stages.hpp"
#include "graph/plan/phases/phases.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

struct PhaseRequest {
  bool parallel = false;
  /// These are the numbers of stages in each phase. If the list is empty, each phase has one stage.
  std::vector<std::int32_t> stages = {};
  PhaseLiveness liveness = PhaseLiveness::always_live;
  bool separate_backward = false;
  std::int32_t turn = 1;  ///< A phase does this many micro-batches in one turn.
};

/// Returns `stages`, in order, with their phases and their default IPUs. The stages of a phase have
/// the default IPUs 0, 1, ... in a serial phase, 0, 2, ... in an even parallel phase, and 1, 3, ...
/// in an odd parallel phase.
std::vector<StageRequest> grouped_into_phases(std::vector<StageRequest> stages,
                                              const PhaseRequest& request);

/// Returns the phases of the stages of `assignment`, which have their IPUs. If all stages of a
/// phase were left out, there is no such phase.
/// @throws Error invalid_topology, whether stages were left out or not, if two stages of a phase
/// are on one IPU, if a serial phase is on an IPU on which the phase with the most stages is not,
/// if an even parallel phase is on an odd IPU, or if an odd parallel phase is on an even IPU.
Phases assign_phases(const StageAssignment& assignment, const PhaseRequest& request);

}  // namespace penstock::graph
