#include "engine/onnx/import/branches.hpp"

#include <map>
#include <set>
#include <string>

#include "engine/onnx/import/copy_count.hpp"
#include "engine/onnx/shapes/corrupt.hpp"

namespace penstock {
namespace {

/// Adds what a graph reads, but does not compute itself, to `captured`.
void add_captures(const OnnxGraph& graph, std::set<std::string>& captured) {
  std::set<std::string> defined, read;
  for (const OnnxValueInfo& input : graph.inputs) defined.insert(input.name);
  for (const auto& initializer : graph.initializers) defined.insert(initializer->name);
  for (const OnnxNode& node : graph.nodes) {
    read.insert(node.inputs.begin(), node.inputs.end());
    for (const OnnxAttribute& attribute : node.attributes)
      if (attribute.graph) add_captures(*attribute.graph, read);
    defined.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const OnnxValueInfo& output : graph.outputs) read.insert(output.name);
  for (const std::string& name : read)
    if (!name.empty() && !defined.contains(name)) captured.insert(name);
}

}  // namespace

void list_captures(std::vector<OnnxNode>& nodes) {
  std::map<const OnnxGraph*, std::set<std::string>> captures;  // Nodes may share a branch.
  CopyCount count;
  for (OnnxNode& node : nodes) {
    if (node.op_type != if_operator || !node.domain.empty()) continue;
    std::set<std::string> captured;
    for (const OnnxAttribute& attribute : node.attributes) {
      if (!attribute.graph) continue;
      const auto [found, is_new] = captures.try_emplace(attribute.graph.get());
      if (is_new) add_captures(*attribute.graph, found->second);
      for (const std::string& name : found->second) count.add(name);
      captured.insert(found->second.begin(), found->second.end());
    }
    node.inputs.insert(node.inputs.end(), captured.begin(), captured.end());
  }
}

const OnnxGraph& branch_of(const OnnxNode& node, bool condition) {
  const char* const name = condition ? "then_branch" : "else_branch";
  const OnnxAttribute* const attribute = node.find(name);
  if (!attribute || !attribute->graph) corrupt(std::string("expected a graph as ") + name);
  if (attribute->graph->outputs.size() < node.outputs.size())
    corrupt(std::string("expected ") + std::to_string(node.outputs.size()) + " outputs of " + name +
            ", got " + std::to_string(attribute->graph->outputs.size()));
  return *attribute->graph;
}

}  // namespace penstock
