// Pass: which stages a model has where nobody names them. Pure.
#pragma once

#include <vector>

#include "graph/graph.hpp"
#include "graph/passes/stages.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

/// A model without blocks is one stage. Blocks that are made for stages are those; others count in
/// the order of their first nodes, and one without a node follows the block that was declared
/// before it. `auto_increment` makes each further run of
/// a block's nodes a block of its own, "B1 (2)", on the same IPU.
/// @throws Error invalid_topology if, by `same_as_ipu`, a block does not say which IPU it is on; if
/// only some blocks are made for stages, or none for a stage before another's.
std::vector<StageRequest> find_stages(Graph& model, StageRule rule);

}  // namespace penstock::graph
