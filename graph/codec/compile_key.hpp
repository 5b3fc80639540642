// A plan that was kept under a compilation's key serves every compilation that has the same key.
// Two compilations that make the same plan may have different keys.
#pragma once

#include <string>

#include "graph/compile/compile.hpp"

namespace penstock::graph {

/// Returns everything on which a plan depends, as bytes: the compiler's own sources, the
/// instruction set, the model without its weights, and the request. Measured times are not in the
/// key: if stages are cut by such times, a plan that is found under the key has the cut that was
/// right for the times of its own compilation.
/// @throws Error invalid_argument if PENSTOCK_ISA asks for an instruction set that the machine
/// lacks.
std::string compile_key(const Graph& model, const CompileRequest& request);

}  // namespace penstock::graph
