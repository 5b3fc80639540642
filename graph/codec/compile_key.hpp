// The key of a compilation: equal for those whose plans are the same. Pure.
#pragma once

#include <string>

#include "graph/compile/compile.hpp"

namespace penstock::graph {

/// Everything that a plan depends on, as bytes: the compiler's own sources, the instruction set,
/// the model without its weights, and the request. Where stages are cut by measured times, whoever
/// finds a plan under this key gets the cut of that measurement.
/// @throws Error invalid_argument for a PENSTOCK_ISA that the machine lacks.
std::string compile_key(const Graph& model, const CompileRequest& request);

}  // namespace penstock::graph
