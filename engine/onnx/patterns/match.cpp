#include "engine/onnx/patterns/match.hpp"

#include <algorithm>
#include <utility>

namespace penstock {

NodeGraph::NodeGraph(const std::vector<OnnxNode>& nodes, const std::set<std::string>& outputs,
                     const std::set<std::string>& initializers)
    : nodes_(nodes), outputs_(outputs), initializers_(initializers), may_be_known_(initializers) {
  const auto is_known = [&](const std::string& name) {
    return name.empty() || may_be_known_.contains(name);
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool is_of_shape = nodes[i].op_type == "Shape" || nodes[i].op_type == "Size";
    if (is_of_shape || std::ranges::all_of(nodes[i].inputs, is_known))
      may_be_known_.insert(nodes[i].outputs.begin(), nodes[i].outputs.end());
    for (const std::string& output : nodes[i].outputs) producers_.emplace(output, i);
    for (const std::string& input : nodes[i].inputs) readers_[input].insert(i);
  }
}

std::optional<std::size_t> NodeGraph::producer(const std::string& name, std::string_view op) const {
  const auto found = producers_.find(name);
  if (name.empty() || found == producers_.end()) return std::nullopt;
  const OnnxNode& node = nodes_[found->second];
  const bool is_first = node.outputs[0] == name;
  return is_first && node.domain.empty() && node.op_type == op ? std::optional(found->second)
                                                               : std::nullopt;
}

bool NodeGraph::is_read_by(const std::string& name, const std::set<std::size_t>& readers) const {
  const auto found = readers_.find(name);
  return !outputs_.contains(name) &&
         (found == readers_.end() || std::ranges::includes(readers, found->second));
}

const OnnxNode* Match::take(const std::string& name, std::string_view op) {
  const std::optional<std::size_t> position = graph_->producer(name, op);
  if (!position) return nullptr;
  taken_.insert(*position);
  return &graph_->node(*position);
}

const OnnxNode* Match::take(const OnnxNode& node, std::size_t i, std::string_view op) {
  return i < node.inputs.size() ? take(node.inputs[i], op) : nullptr;
}

std::optional<Pattern> Match::pattern(OnnxNode layer) const {
  for (std::size_t i = 0; i < last().outputs.size(); ++i)
    if (last().outputs[i].empty() == (i == 0)) return std::nullopt;  // A layer has one result.
  for (const std::size_t position : taken_)
    for (const std::string& output : graph_->node(position).outputs)
      if (position != last_ && !output.empty() && !graph_->is_read_by(output, taken_))
        return std::nullopt;
  layer.outputs = last().outputs;
  return Pattern{{taken_.begin(), taken_.end()}, std::move(layer)};
}

OnnxNode layer_node(std::string op_type, const std::string& name, std::vector<std::string> inputs) {
  return {.name = name, .op_type = std::move(op_type), .inputs = std::move(inputs)};
}

OnnxAttribute integer_attribute(const std::string& name, std::int64_t value) {
  return {.name = name, .integer = value};
}

OnnxAttribute integers_attribute(const std::string& name, std::vector<std::int64_t> values) {
  return {.name = name, .integers = std::move(values)};
}

std::vector<Pattern> find_patterns(const std::vector<OnnxNode>& nodes,
                                   const std::set<std::string>& outputs,
                                   const std::set<std::string>& initializers) {
  const NodeGraph graph(nodes, outputs, initializers);
  std::vector<Pattern> patterns;
  std::set<std::size_t> used;
  for (const Matcher matcher : {match_attention, match_layer_norm, match_gelu, match_linear})
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      std::optional<Pattern> found = matcher(graph, i);
      const auto is_used = [&](std::size_t position) { return used.contains(position); };
      if (!found || std::ranges::any_of(found->nodes, is_used)) continue;
      used.insert(found->nodes.begin(), found->nodes.end());
      patterns.push_back(*std::move(found));
    }
  return patterns;
}

}  // namespace penstock
