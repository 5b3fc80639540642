// Pass: neighbours that are faster as one. Pure.
#pragma once

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// The forward graph `graph` with each convolution (in lanes or not) and linear layer whose only
/// reader is a relu, and each convolution in lanes whose only reader is a 2x2 max pooling with a
/// relu behind it (or the other way round), all in one block, made one node under the first one's
/// name; a checkpointed value that is not computed any more makes the new node's result one. Looks
/// at ops, attributes and blocks alone: stages are chosen later. What an anchor asks for within
/// such a node is computed once more, by nodes of its own beside it.
Graph fuse(const Graph& graph);

}  // namespace penstock::graph
