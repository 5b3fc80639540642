// A plan that was kept under a compilation's key serves every compilation that has the same key.
// Two compilations that make the same plan may have different keys.
#pragma once

#include <string>

#include "graph/compile/compile.hpp"

namespace penstock::graph {

/// Returns everything that a plan depends on, as bytes: the compiler's own sources, the instruction
/// set, the model without its weights, and the request. If stages are cut by measured times,
/// whoever finds a plan under this key gets the cut of the measurement that the plan was made with.
/// @throws Error invalid_argument for a PENSTOCK_ISA that the machine lacks.
std::string compile_key(const Graph& model, const CompileRequest& request);

}  // namespace penstock::graph
