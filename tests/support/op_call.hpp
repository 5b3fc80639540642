// An OpCall is one call of an op's kernel that can be made again and again. The memory of the call
// is filled with a poison before, and it has borders that are watched. An output may share the
// memory of an input.
#pragma once

#include <optional>
#include <vector>

#include "graph/ir/op.hpp"
#include "penstock/tensor.hpp"

namespace penstock::testing {

struct OpCall {
  const graph::Op* op = nullptr;
  graph::Attributes attributes = {};
  std::vector<Tensor> inputs = {};
  graph::RandomKey random = {};
};

struct CallMemory {
  /// Before the call, every byte of the outputs and the workspace has this value. Four bytes 0xff
  /// are a NaN.
  unsigned char poison = 0xff;
  /// If this is set, an output shares the memory of an input.
  std::optional<graph::Overwrite> in_place = {};
  /// The call is divided into these parts, which are computed in this order. Each part has a
  /// poisoned workspace of its own.
  std::vector<graph::Part> parts = {graph::Part{}};
};

std::vector<graph::TensorType> input_types(const OpCall& call);
std::vector<graph::TensorType> output_types(const OpCall& call);

/// Returns how many units the work of `call` has. The result is 1 if the work of the op cannot be
/// divided.
std::int64_t units_of(const OpCall& call);

/// Makes the call and returns the outputs. The tensors in `call.inputs` never change, because the
/// kernel works on copies of them.
/// @throws std::logic_error if the kernel changed an input, or wrote past an input, an output or
/// its workspace.
std::vector<Tensor> run(const OpCall& call, const CallMemory& memory = {});

}  // namespace penstock::testing
