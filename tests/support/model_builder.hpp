// A ModelBuilder makes graphs for tests, node by node.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "graph/ir/graph.hpp"

namespace penstock::testing {

class ModelBuilder {
 public:
  ModelBuilder() { graph_.name = "test"; }

  /// Adds an input of the shape [1, sample...]. compile() sets the batch size.
  graph::ValueId input(const std::string& name, std::vector<std::int64_t> sample,
                       DType dtype = DType::f32);
  graph::ValueId parameter(const std::string& name, const Shape& shape);
  graph::ValueId buffer(const std::string& name, const Shape& shape);

  /// Puts the nodes that are added from now on into the block `name`, which may be an earlier
  /// block.
  ModelBuilder& block(const std::string& name, std::int32_t ipu = graph::none);
  /// Appends a node and returns its first output.
  graph::ValueId apply(const graph::Op& op, std::vector<graph::ValueId> inputs,
                       graph::Attributes attributes = {}, const std::string& name = "");
  graph::ValueId apply(const std::string& op, std::vector<graph::ValueId> inputs,
                       graph::Attributes attributes = {}, const std::string& name = "");
  /// Adds a linear layer with the parameters NAME.weight and NAME.bias.
  graph::ValueId linear(const std::string& name, graph::ValueId x, std::int64_t features);

  void output(const std::string& name, graph::ValueId value) {
    graph_.outputs.push_back({name, value});
  }
  void loss(graph::ValueId value) { graph_.loss = value; }

  const graph::Graph& graph() const { return graph_; }
  const Shape& shape(graph::ValueId value) const { return graph_.type(value).shape; }

 private:
  graph::ValueId leaf(const std::string& name, const graph::TensorType& type,
                      graph::ValueKind kind);

  graph::Graph graph_;
  graph::BlockId block_ = graph::none;
};

/// Returns `graph` in which the variables called `names`, and no others, are frozen.
graph::Graph frozen(graph::Graph graph, const std::set<std::string>& names);

}  // namespace penstock::testing
