#include "graph/passes/stages/atoms.hpp"

#include <algorithm>
#include <string>

namespace penstock::graph {
namespace {

/// A Range is a range of forward nodes, which includes both ends. It is empty if the ends are
/// `none`.
struct Range {
  NodeId first = none;
  NodeId last = none;

  void add(NodeId position) {
    first = first == none ? position : std::min(first, position);
    last = std::max(last, position);
  }
};

NodeId position_of(const Graph& graph, NodeId node) {
  return graph.node(node).backward ? graph.node(node).forward_of : node;
}

/// Returns, for each ValueId, the range of nodes in which the value is computed and read. A
/// backward node counts as its forward node, Node::forward_of.
std::vector<Range> reaches(const Graph& graph) {
  std::vector<Range> ranges(graph.values.size());
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const NodeId position = position_of(graph, static_cast<NodeId>(id));
    for (const auto* values : {&graph.nodes[id].inputs, &graph.nodes[id].outputs})
      for (const ValueId value : *values) ranges[index(value)].add(position);
  }
  return ranges;
}

/// Seams say, for the gap before each forward node, whether the graph may be cut there, and how
/// many bytes would then travel between stages.
class Seams {
 public:
  explicit Seams(const Graph& graph) : graph_(graph), seams_(forward_nodes(graph)) {
    const auto ranges = reaches(graph);
    NodeId first_input = static_cast<NodeId>(seams_.size()) - 1;
    for (std::size_t id = 0; id < ranges.size(); ++id) {
      if (ranges[id].first == none) continue;
      const Value& value = graph_.values[id];
      // If several stages use a parameter, copies of it travel to the later ones.
      const bool copied = value.kind == ValueKind::parameter;
      if (copied || value.kind == ValueKind::computed) add_bytes(ranges[id], value.type.bytes());
      if (value.kind == ValueKind::input) first_input = std::min(first_input, ranges[id].first);
      if (value.kind == ValueKind::buffer) close(ranges[id]);
    }
    close({0, first_input});
  }

  std::vector<Atom> atoms() const {
    std::vector<Atom> result;
    for (std::size_t i = 0; i < seams_.size(); ++i) {
      const auto node = static_cast<NodeId>(i);
      if (i == 0 || !seams_[i].closed)
        result.push_back({.first = node, .bytes_before = seams_[i].bytes});
      result.back().last = node + 1;
    }
    return result;
  }

 private:
  struct Seam {
    bool closed = false;
    std::int64_t bytes = 0;
  };

  static std::size_t forward_nodes(const Graph& graph) {
    return static_cast<std::size_t>(std::ranges::count(graph.nodes, false, &Node::backward));
  }

  void add_bytes(const Range& range, std::int64_t bytes) {
    for (NodeId node = range.first + 1; node <= range.last; ++node)
      seams_[index(node)].bytes += bytes;
  }

  void close(const Range& range) {
    for (NodeId node = range.first + 1; node <= range.last; ++node)
      seams_[index(node)].closed = true;
  }

  const Graph& graph_;
  std::vector<Seam> seams_;
};

/// Returns the names of the blocks to which the nodes [first, last) belong, in the model's order.
std::vector<std::string> block_names(const Graph& graph, NodeId first, NodeId last) {
  std::vector<bool> used(graph.blocks.size());
  for (NodeId id = first; id < last; ++id)
    if (graph.node(id).block != none) used[index(graph.node(id).block)] = true;
  std::vector<std::string> names;
  for (std::size_t block = 0; block < used.size(); ++block)
    if (used[block]) names.push_back(graph.blocks[block].name);
  return names;
}

}  // namespace

std::vector<Atom> find_atoms(const Graph& graph) {
  return Seams(graph).atoms();
}

std::vector<std::int32_t> atom_of_nodes(const Graph& graph, std::span<const Atom> atoms) {
  std::vector<std::int32_t> result(graph.nodes.size());
  for (std::size_t atom = 0; atom < atoms.size(); ++atom)
    for (NodeId id = atoms[atom].first; id < atoms[atom].last; ++id)
      result[index(id)] = static_cast<std::int32_t>(atom);
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)
    result[id] = result[index(position_of(graph, static_cast<NodeId>(id)))];
  return result;
}

CutGraph cut(const Graph& graph, std::span<const Atom> atoms, std::span<const std::int32_t> begins,
             const std::vector<std::int32_t>& ipus) {
  CutGraph result{.graph = graph};
  result.graph.blocks.clear();
  for (std::size_t stage = 0; stage < begins.size(); ++stage) {
    const auto number = static_cast<std::int32_t>(stage);
    const NodeId first = atoms[index(begins[stage])].first;
    const NodeId last =
        stage + 1 < begins.size() ? atoms[index(begins[stage + 1])].first : atoms.back().last;
    result.assignment.stages.push_back(
        {.blocks = block_names(graph, first, last), .ipu = ipus.empty() ? number : ipus[stage]});
    result.assignment.of_block.push_back(number);
    result.graph.blocks.push_back({.name = "stage " + std::to_string(stage)});
    for (NodeId id = first; id < last; ++id) result.graph.node(id).block = number;
  }
  // The nodes after the last atom are backward nodes. Each belongs to the stage of its forward
  // node, Node::forward_of.
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)
    result.graph.nodes[id].block =
        result.graph.node(position_of(graph, static_cast<NodeId>(id))).block;
  return result;
}

}  // namespace penstock::graph
