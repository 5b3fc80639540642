// A Tape runs each op as soon as it is applied, with every value in a block of its own, and then
// computes gradients back through the ops. It is the simplest way to run a graph. Tests compare the
// faster ways with it.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/ir/op.hpp"
#include "penstock/tensor.hpp"
#include "tests/support/op_call.hpp"

namespace penstock::testing {

class Tape {
 public:
  /// Adds a value that no node computes.
  graph::ValueId leaf(Tensor tensor);
  /// Appends a node, runs it, and returns its outputs.
  std::vector<graph::ValueId> apply(const graph::Op& op, std::vector<graph::ValueId> inputs,
                                    graph::Attributes attributes = {});

  /// Appends and runs the gradient nodes of everything that `output` was computed from. The
  /// gradient of a value that is used several times is the sum over the uses. Gradients are
  /// computed for every f32 value or, if `wanted` is not empty, for the values in `wanted` and all
  /// values between them and the output.
  void backward(graph::ValueId output, const Tensor& gradient,
                const std::vector<graph::ValueId>& wanted = {});
  /// Returns the gradient of `value` that backward() has computed. The tensor is empty if
  /// backward() has not computed this gradient, for example because the output does not depend on
  /// the value.
  const Tensor& gradient(graph::ValueId value) const { return gradients_[index(value)]; }

  const Tensor& operator[](graph::ValueId value) const { return tensors_[index(value)]; }
  const graph::Graph& graph() const { return graph_; }
  /// Returns all kernel calls so far, forward and backward, in the order in which they were made.
  const std::vector<OpCall>& calls() const { return calls_; }

 private:
  static std::size_t index(graph::ValueId value) { return static_cast<std::size_t>(value); }
  void run_new_nodes();
  void add_gradient(graph::ValueId value, const Tensor& contribution);
  std::vector<graph::ValueId> gradient_leaves(const std::vector<graph::ValueId>& outputs);
  std::vector<bool> wanted_values(const std::vector<graph::ValueId>& wanted) const;
  void backward_of(graph::NodeId node, const std::vector<bool>& wanted);

  graph::Graph graph_;
  std::vector<Tensor> tensors_;    ///< This has a tensor for each ValueId.
  std::vector<Tensor> gradients_;  ///< This has a tensor for each ValueId.
  std::vector<OpCall> calls_;      ///< This has the call of each NodeId.
};

}  // namespace penstock::testing
