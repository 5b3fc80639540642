// This pass puts blocks into stages, and stages on IPUs. It is pure.
#pragma once

#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/passes/stages/stages.hpp"

namespace penstock::graph {

/// Puts the blocks of `model` into the stages of `requests`, and the stages on IPUs. The IPU of a
/// stage is the one that its request asks for; failing that, the one in `ipus` (which is empty, or
/// has one IPU per stage); failing that, the one that its blocks ask for; failing that, its default
/// IPU; else the IPU of the stage's number. `model` has forward nodes only; a model without blocks
/// is one stage. In inference, a stage whose blocks have no node is left out, with a warning.
/// Stages may share a parameter, but not a buffer.
/// @throws Error invalid_topology (unknown block, block in two stages or in none, empty stage, a
/// node outside the blocks, a value used in an earlier stage than the one that computes it, a
/// buffer used in two stages, wrong number of IPUs, blocks of a stage that ask for different IPUs)
/// or invalid_argument (negative IPU).
StageAssignment assign_stages(const Graph& model, const std::vector<StageRequest>& requests,
                              const std::vector<std::int32_t>& ipus, bool training);

}  // namespace penstock::graph
