// targets_of() says which outputs of a model are made of losses, and which inputs no other
// output needs. Such inputs are targets, and a prediction can do without them. The function is
// pure.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

struct Targets {
  struct Input {
    std::string name;
    TensorType type;  ///< Is the type of a micro-batch of one sample.
  };
  /// Has the inputs that no output needs but those made of losses.
  std::vector<Input> inputs = {};
  /// Says by output whether it is made of no loss, or has a row per sample.
  std::vector<bool> has_rows = {};
  std::vector<bool> needs_any = {};  ///< Says by output whether it needs one of `inputs`.
};

/// Returns the targets of the network `graph` for micro-batches of one sample. If all outputs of a
/// network are made of losses, it predicts these: then every output has rows, and no input is a
/// target.
Targets targets_of(const Graph& graph);

}  // namespace penstock::graph
