// This pass says which stages a model has if the host does not name them. It is pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/passes/stages/stages.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

/// Returns `model` with the blocks that find_stages() makes stages of by `rule`. For
/// `auto_increment`, each run of neighbouring nodes of a block becomes a block, on the same IPU.
/// The second run of the block "B1" is called "B1 (2)", or has the next number that makes the name
/// unused. `model` is a whole model from which nothing was pruned, so that training and inference
/// have the same runs. For other rules, the blocks stay as they are.
Graph in_runs_of_blocks(Graph model, StageRule rule);

/// Returns the stages of `model` by `rule`. A model without blocks is one stage. By `same_as_ipu`,
/// the blocks of each IPU are a stage, in the order of the IPUs. By the other rules, each block is
/// a stage. If blocks were made for numbered stages, the stages have the order of the numbers;
/// otherwise they have the order of the first nodes of their blocks, and a block without a node
/// follows the block that was declared before it. For `auto_increment`, `model` is a result of
/// in_runs_of_blocks().
/// @throws Error invalid_topology if, by `same_as_ipu`, a block does not say which IPU it is on, if
/// only some nodes are in blocks that were made for numbered stages, or if a number is missing;
/// invalid_argument for another rule than `by_block` if blocks were made for numbered stages.
std::vector<StageRequest> find_stages(const Graph& model, StageRule rule);

/// Checks that no block of `model` was made for a numbered stage, because the compiler is to cut
/// the model into `automatic` stages without regard to its blocks.
/// @throws Error invalid_argument if a block was made for a numbered stage.
void expect_no_stages(const Graph& model, std::int32_t automatic);

}  // namespace penstock::graph
