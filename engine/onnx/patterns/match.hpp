// A Match collects the nodes of a pattern, from the last one backwards. A NodeGraph says who
// computes and who reads a name. One thread uses them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/onnx/patterns/pattern.hpp"

namespace penstock {

class NodeGraph {
 public:
  NodeGraph(const std::vector<OnnxNode>& nodes, const std::set<std::string>& outputs,
            const std::set<std::string>& initializers);

  const OnnxNode& node(std::size_t position) const { return nodes_[position]; }
  bool is_initializer(const std::string& name) const { return initializers_.contains(name); }
  /// Returns whether `name` depends on no elements of inputs of the graph, so that it may be known
  /// at import.
  bool may_be_known(const std::string& name) const { return may_be_known_.contains(name); }
  /// Returns the position of the node that computes `name` if its operator is `op`.
  std::optional<std::size_t> producer(const std::string& name, std::string_view op) const;
  /// Returns whether only nodes of `readers` read `name`, and no output of the graph is called so.
  bool is_read_by(const std::string& name, const std::set<std::size_t>& readers) const;

 private:
  const std::vector<OnnxNode>& nodes_;
  const std::set<std::string>& outputs_;
  const std::set<std::string>& initializers_;
  std::map<std::string, std::size_t> producers_;
  std::map<std::string, std::set<std::size_t>> readers_;
  std::set<std::string> may_be_known_;
};

class Match {
 public:
  Match(const NodeGraph& graph, std::size_t last) : graph_(&graph), last_(last), taken_{last} {}

  const NodeGraph& graph() const { return *graph_; }
  const OnnxNode& last() const { return graph_->node(last_); }
  /// Takes the node that computes `name` if its operator is `op`, and returns it; null otherwise.
  const OnnxNode* take(const std::string& name, std::string_view op);
  /// Takes the node that computes input number `i` of `node` if it has that input, and if the
  /// operator is `op`.
  const OnnxNode* take(const OnnxNode& node, std::size_t i, std::string_view op);
  /// Returns the pattern of the nodes that were taken, or nothing if others read what nodes other
  /// than the last one compute.
  std::optional<Pattern> pattern(OnnxNode layer) const;

 private:
  const NodeGraph* graph_;
  std::size_t last_;
  std::set<std::size_t> taken_;
};

/// Returns a node that stands for a pattern.
OnnxNode layer_node(std::string op_type, const std::string& name, std::vector<std::string> inputs);
/// Returns an attribute of one integer.
OnnxAttribute integer_attribute(const std::string& name, std::int64_t value);
/// Returns an attribute of a list of integers.
OnnxAttribute integers_attribute(const std::string& name, std::vector<std::int64_t> values);

/// A Matcher returns the pattern that ends with the node at a position, or nothing.
using Matcher = std::optional<Pattern> (*)(const NodeGraph& graph, std::size_t last);

/// Matches x·W + b and x·W, where W is an initializer or the transpose of one, and b an
/// initializer.
std::optional<Pattern> match_linear(const NodeGraph& graph, std::size_t last);
/// Matches x·(1 + erf(x/√2))/2 and x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2.
std::optional<Pattern> match_gelu(const NodeGraph& graph, std::size_t last);
/// Matches (x - mean)/√(variance + eps)·w + b.
std::optional<Pattern> match_layer_norm(const NodeGraph& graph, std::size_t last);
/// Matches softmax(scale·q·kᵀ + mask)·v, with a dropout behind the softmax or without.
std::optional<Pattern> match_attention(const NodeGraph& graph, std::size_t last);

}  // namespace penstock
