// This pass says which stages a model has if nobody names them. It is pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/passes/stages/stages.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

/// Returns `model` with the blocks that `rule` looks at. For `auto_increment`, each further run of
/// a block's nodes is a block of its own, on the same IPU, called "B1 (2)", or by the next number
/// that makes it no other block's name. It takes a whole model, so that training and inference have
/// the same runs. Other rules look at the model's own blocks.
Graph in_runs_of_blocks(Graph model, StageRule rule);

/// Returns the stages of a model. A model without blocks is one stage. If blocks are made for
/// stages, these are the stages. Other blocks count in the order of their first nodes, and one
/// without a node follows the block that was declared before it. For `auto_increment` the model is
/// split into runs.
/// @throws Error invalid_topology if, by `same_as_ipu`, a block does not say which IPU it is on, if
/// only some blocks are made for stages, or if none is made for a stage before another's;
/// invalid_argument for another rule than `by_block` if blocks are made for stages.
std::vector<StageRequest> find_stages(const Graph& model, StageRule rule);

/// Checks that no block of `model` is made for a stage, because the model is to be cut into
/// `automatic` stages without regard to its blocks.
/// @throws Error invalid_argument if one is.
void expect_no_stages(const Graph& model, std::int32_t automatic);

}  // namespace penstock::graph
