// Compile warnings are remarks on a plan that was made as the host asked, such as that an option
// has no effect on the plan.
#pragma once

#include <vector>

#include "graph/compile/advice.hpp"
#include "graph/compile/compile_request.hpp"
#include "graph/compile/staged_graph.hpp"
#include "graph/ir/graph.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// Returns warnings about `plan`: of more threads than cores, of options that change nothing, of
/// parameters that are not trained, and of statistics that each replica keeps for itself. `plan`
/// was made of `staged`, which was made of `model`.
std::vector<Note> compile_warnings(const Graph& model, const StagedGraph& staged, const Plan& plan,
                                   const CompileRequest& request);

}  // namespace penstock::graph
