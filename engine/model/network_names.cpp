#include "engine/model/network_names.hpp"

namespace penstock {

bool NetworkNames::has_input(const graph::Graph& graph, const std::string& name) {
  const auto name_of = [&](std::size_t i) -> const std::string& {
    return graph.value(graph.inputs[i]).name;
  };
  return inputs_.find(graph.inputs.size(), name_of, name).has_value();
}

bool NetworkNames::has_variable(const graph::Graph& graph, const std::string& name) {
  const auto name_of = [&](std::size_t i) -> const std::string& {
    return graph.value(graph.variables[i].value).name;
  };
  return variables_.find(graph.variables.size(), name_of, name).has_value();
}

bool NetworkNames::has_node(const graph::Graph& graph, const std::string& name) {
  const auto name_of = [&](std::size_t i) -> const std::string& { return graph.nodes[i].name; };
  return nodes_.find(graph.nodes.size(), name_of, name).has_value();
}

bool NetworkNames::has_output(const graph::Graph& graph, const std::string& name) {
  const auto name_of = [&](std::size_t i) -> const std::string& { return graph.outputs[i].name; };
  return outputs_.find(graph.outputs.size(), name_of, name).has_value();
}

std::optional<std::size_t> NetworkNames::find_block(const graph::Graph& graph,
                                                    const std::string& name) {
  const auto name_of = [&](std::size_t i) -> const std::string& { return graph.blocks[i].name; };
  return blocks_.find(graph.blocks.size(), name_of, name);
}

std::string NetworkNames::numbered(const graph::Graph& graph, const graph::Op& op) {
  for (; counted_ < graph.nodes.size(); ++counted_) ++nodes_of_[graph.nodes[counted_].op];
  std::size_t number = nodes_of_[&op];
  std::string name;
  do {
    name = std::string(op.name) + "_" + std::to_string(++number);
  } while (has_node(graph, name));
  return name;
}

void NetworkNames::keep(const graph::Graph& graph, std::size_t inputs, std::size_t variables,
                        std::size_t nodes, std::size_t outputs) noexcept {
  inputs_.keep(inputs);
  variables_.keep(variables);
  nodes_.keep(nodes);
  outputs_.keep(outputs);
  while (counted_ > nodes) --nodes_of_.find(graph.nodes[--counted_].op)->second;
}

}  // namespace penstock
