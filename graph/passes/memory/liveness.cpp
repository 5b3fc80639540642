#include "graph/passes/memory/liveness.hpp"

#include <algorithm>
#include <optional>

#include "graph/ir/op.hpp"
#include "graph/plan/sharing.hpp"
#include "graph/plan/staging_sizes.hpp"
#include "graph/values/memory.hpp"

namespace penstock::graph {
namespace {

class LivenessAnalysis {
 public:
  LivenessAnalysis(const Graph& graph, std::span<const NodeId> nodes, const Placements& placements,
                   const LivenessOptions& options)
      : graph_(graph),
        nodes_(nodes),
        placements_(placements),
        options_(options),
        last_use_(graph.values.size(), none),
        buffer_of_(graph.values.size()) {}

  Liveness run() {
    for (std::size_t at = 0; at < nodes_.size(); ++at)
      for (const ValueId input : node(at).inputs)
        last_use_[index(input)] = static_cast<std::int32_t>(at);
    for (std::size_t at = 0; at < nodes_.size(); ++at) visit(static_cast<std::int32_t>(at));
    return std::move(result_);
  }

 private:
  const Node& node(std::size_t at) const { return graph_.node(nodes_[at]); }

  void visit(std::int32_t at) {
    const Node& node = this->node(index(at));
    add_loads(node, at);
    std::vector<std::size_t> taken;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId output = node.outputs[i];
      if (!needs_scratch(placements_[index(output)])) continue;
      std::optional<std::size_t> buffer = overwritten(node, i, at);
      if (!buffer || std::ranges::count(taken, *buffer) > 0)
        buffer = add_buffer(at, graph_.type(output).bytes());
      taken.push_back(*buffer);
      result_.buffers[*buffer].last = std::max(at, last_use_[index(output)]);
      buffer_of_[index(output)] = buffer;
      result_.values.emplace_back(output, *buffer);
    }
    add_workspace(node, at);
  }

  void add_loads(const Node& node, std::int32_t at) {
    for (const ValueId input : node.inputs) {
      if (!arrives(input, Arrival::copied) || buffer_of_[index(input)]) continue;
      const std::size_t buffer = add_buffer(at, graph_.type(input).bytes());
      result_.buffers[buffer].last = last_use_[index(input)];
      buffer_of_[index(input)] = buffer;
      result_.values.emplace_back(input, buffer);
    }
  }

  bool arrives(ValueId value, Arrival arrival) const {
    const auto& placement = placements_[index(value)];
    return placement && placement->arrival == arrival;
  }

  /// Returns the buffer of an input of `node` that output number `output` may overwrite, or nothing
  /// if there is no such input. No node after position `at` may read that input.
  std::optional<std::size_t> overwritten(const Node& node, std::size_t output,
                                         std::int32_t at) const {
    if (!options_.in_place) return std::nullopt;
    for (const Overwrite& pair : node.op->overwrites) {
      if (index(pair.output) != output || index(pair.input) >= node.inputs.size()) continue;
      const ValueId input = node.inputs[index(pair.input)];
      if (buffer_of_[index(input)] && last_use_[index(input)] == at &&
          std::ranges::count(node.inputs, input) == 1 &&
          graph_.type(input).bytes() == graph_.type(node.outputs[output]).bytes())
        return buffer_of_[index(input)];
    }
    return std::nullopt;
  }

  std::size_t add_buffer(std::int32_t at, std::int64_t bytes) {
    result_.buffers.push_back({.first = at, .last = at, .bytes = bytes});
    return result_.buffers.size() - 1;
  }

  void add_workspace(const Node& node, std::int32_t at) {
    const auto inputs = types_of(graph_, node.inputs), outputs = types_of(graph_, node.outputs);
    std::int64_t bytes = staging_of(node), all = 0;
    if (node.op->workspace)
      bytes = std::max(bytes, node.op->workspace(node.attributes, inputs, outputs));
    if (bytes > 0) {
      const Sharing sharing =
          share_out(*node.op, node.attributes, inputs, outputs, options_.threads);
      all = sharing.parts > 1 ? sharing.parts * aligned(bytes) : bytes;
    }
    result_.workspaces.emplace_back(bytes > 0 ? add_buffer(at, all) : 0, bytes);
  }

  std::int64_t staging_of(const Node& node) const {
    std::int64_t bytes = 0;
    for (const ValueId input : node.inputs)
      if (arrives(input, Arrival::in_pieces))
        bytes = std::max(bytes, program_staging_bytes(graph_.type(input).shape.elements()));
    return bytes;
  }

  const Graph& graph_;
  std::span<const NodeId> nodes_;
  const Placements& placements_;
  const LivenessOptions options_;
  // This has, for each ValueId, the last position in `nodes_` at which the value is read, or
  // `none`.
  std::vector<std::int32_t> last_use_;
  // This has, for each ValueId, the position of the value's buffer in `result_.buffers`, if the
  // value has a buffer.
  std::vector<std::optional<std::size_t>> buffer_of_;
  Liveness result_;
};

}  // namespace

Liveness find_liveness(const Graph& graph, std::span<const NodeId> nodes,
                       const Placements& placements, const LivenessOptions& options) {
  return LivenessAnalysis(graph, nodes, placements, options).run();
}

}  // namespace penstock::graph
