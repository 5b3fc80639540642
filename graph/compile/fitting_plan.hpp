// fitting_plan() searches for a plan that fits into the memory of the IPUs, and gives advice if
// there is none.
#pragma once

#include "graph/compile/compile_request.hpp"
#include "graph/compile/staged_graph.hpp"
#include "graph/ir/graph.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// Returns the plan that `request` asks for. `staged` was made of `model`. Each thread of an IPU
/// needs scratch memory: if `request` leaves the number of threads per IPU open, smaller numbers
/// are tried before a plan is refused. What inference could compute once is computed in each
/// forward if there is no memory to keep it.
/// @throws IpuMemoryRefusal if an IPU has not enough memory. The refusal names the remedies that
/// were tried and are enough: classes of tensors in the host store, turns, recomputation, shards,
/// schedules and smaller micro-batches.
Plan fitting_plan(const Graph& model, const StagedGraph& staged, const CompileRequest& request);

}  // namespace penstock::graph
