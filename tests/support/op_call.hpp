// An OpCall is one call of an op's kernel that can be made again and again. Its memory is filled
// with a poison before and has borders that are watched, and outputs may take the place of inputs.
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
  /// Fills every byte of the outputs and the workspace before the call. Four bytes 0xff are a NaN.
  unsigned char poison = 0xff;
  /// Says which output shares which input's memory.
  std::optional<graph::Overwrite> in_place = {};
  /// Has the parts of the call, which are computed in this order. Each has a poisoned workspace of
  /// its own.
  std::vector<graph::Part> parts = {graph::Part{}};
};

std::vector<graph::TensorType> input_types(const OpCall& call);
std::vector<graph::TensorType> output_types(const OpCall& call);

/// Returns how many units the work of the call has, which is 1 if its op cannot be divided.
std::int64_t units_of(const OpCall& call);

/// Makes the call and returns the outputs. The tensors in `call.inputs` are never changed: the
/// kernel works on copies of them.
/// @throws std::logic_error if the kernel changed an input, or wrote past an input, an output or
/// its workspace.
std::vector<Tensor> run(const OpCall& call, const CallMemory& memory = {});

}  // namespace penstock::testing
