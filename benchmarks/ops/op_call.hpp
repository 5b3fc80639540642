// An OpCall is a call of an op that can be repeated. The OpCall has memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "benchmarks/ops/op_cases.hpp"
#include "graph/ir/op.hpp"

namespace penstock::benchmarks {

class OpCall {
 public:
  explicit OpCall(const OpCase& item);

  void run() const { op_.forward({attributes_, inputs_, outputs_, workspace_, {}}); }
  /// Returns the elements of the input at `index`. Before anything else is written there, they are
  /// random numbers.
  std::span<float> input(std::size_t index) const { return inputs_[index].f32(); }
  /// Returns a copy of the first output.
  std::vector<float> result() const;
  const graph::TensorType& result_type() const { return out_types_.front(); }
  graph::Cost cost() const { return op_.cost(attributes_, in_types_, out_types_); }
  /// Returns whether the op writes more bytes than it reads.
  bool writes_most() const;

 private:
  std::span<std::byte> memory(std::int64_t bytes);
  graph::Operand operand(const graph::TensorType& type);

  const graph::Op& op_;
  graph::Attributes attributes_;
  std::vector<graph::TensorType> in_types_, out_types_;
  std::vector<graph::Operand> inputs_, outputs_;
  std::span<std::byte> workspace_ = {};
  std::vector<std::shared_ptr<std::byte>> blocks_;
};

}  // namespace penstock::benchmarks
