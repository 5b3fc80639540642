// A Staged is a graph with its stages, as the passes from layouts to programs take it.
#pragma once

#include <algorithm>
#include <string>

#include "graph/ir/graph.hpp"
#include "graph/passes/network/differentiate.hpp"
#include "graph/passes/stages/find_stages.hpp"
#include "graph/passes/stages/partition.hpp"
#include "graph/passes/stages/stage_assignment.hpp"

namespace penstock::testing {

/// A Staged is made from `model`: each block is a stage, and the graph has gradients if
/// `differentiated` is true.
struct Staged {
  explicit Staged(const graph::Graph& model, bool differentiated = true)
      : assignment(
            graph::assign_stages(model, graph::find_stages(model, StageRule::by_block), {}, true)),
        graph(differentiated ? graph::differentiate(model) : model),
        partition(graph::partition(graph, assignment)) {}

  /// Returns the value called `name`, which must exist.
  graph::ValueId value(const std::string& name) const {
    const auto found = std::ranges::find(graph.values, name, &graph::Value::name);
    return static_cast<graph::ValueId>(found - graph.values.begin());
  }

  graph::StageAssignment assignment;
  graph::Graph graph;
  graph::Partition partition;
};

}  // namespace penstock::testing
