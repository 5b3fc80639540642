// compile() makes a plan of a model's graph.
#pragma once

#include <vector>

#include "graph/compile/advice.hpp"
#include "graph/compile/compile_request.hpp"
#include "graph/ir/graph.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/report.hpp"

namespace penstock::graph {

struct Compiled {
  Plan plan;
  CompileReport report;  ///< The report has no warnings; the caller makes them of `notes`.
  std::vector<Note> notes = {};
};

/// Compiles `model` as `request` asks.
/// @throws Error invalid_model (no loss in training, no output in inference), invalid_topology
/// (unknown block, block in two stages or in none, empty stage, a value used in an earlier stage
/// than the one that computes it, wrong number of IPUs, a buffer used in two stages, more automatic
/// stages than the model has atoms, a stage that cannot recompute, phases on IPUs on which they may
/// not be), out_of_memory (an IPU has not enough memory for its stages; the error is an
/// IpuMemoryRefusal), invalid_argument (a PENSTOCK_ISA that the machine lacks, an anchor on a
/// tensor that does not exist or has no gradient), internal (a schedule under which the stages
/// would wait for ever).
Compiled compile(const Graph& model, const CompileRequest& request);

}  // namespace penstock::graph
