// targets_of() says which outputs of a model are made of losses, and which inputs are targets,
// which no other outputs need: what a prediction can do without. Pure.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

struct Targets {
  struct Input {
    std::string name;
    TensorType type;  ///< of a micro-batch of one sample
  };
  std::vector<Input> inputs = {};    ///< no output but those made of losses needs these inputs
  std::vector<bool> has_rows = {};   ///< by output: it is made of no loss, or has a row per sample
  std::vector<bool> needs_any = {};  ///< by output: it needs one of `inputs`
};

/// Returns the targets of the network `graph` for micro-batches of one sample. A network all of
/// whose outputs are made of losses predicts these: then every output has rows, and no input is a
/// target.
Targets targets_of(const Graph& graph);

}  // namespace penstock::graph
