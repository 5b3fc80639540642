// These functions say which inputs the losses and the outputs of a model need. Inputs that only
// losses need are targets, and a prediction can do without them. The functions are pure.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Returns the names of the inputs on which the loss or an output depends, in the model's order. If
/// the graph cannot be trained, because it has no loss or several losses, only the inputs on which
/// an output depends count.
std::vector<std::string> step_inputs(const Graph& graph);

struct Targets {
  struct Input {
    std::string name;
    TensorType type;  ///< This is the input's type for a micro-batch of one sample.
    /// This is the axis whose size differs from call to call, or 0 if there is none.
    std::int32_t dynamic_axis = 0;
  };
  /// These are the inputs that no output needs, except outputs that are made of losses.
  std::vector<Input> inputs = {};
  std::vector<Input> dynamic = {};  ///< These are all inputs that have a dynamic axis.
  /// This says of each output whether it has a row per sample. An output that is made of losses has
  /// no rows if it is a single number.
  std::vector<bool> has_rows = {};
  std::vector<bool> needs_any = {};  ///< This says of each output whether it needs any of `inputs`.
};

/// Returns the targets of the network `graph` for micro-batches of one sample. If all outputs of
/// the network are made of losses, the losses are its predictions: then every output has rows, and
/// no input is a target.
Targets targets_of(const Graph& graph);

}  // namespace penstock::graph
