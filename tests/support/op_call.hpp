// An OpCall is one call of an op's kernel that can be made again and again, in poisoned memory, in
// place, with its borders watched.
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
  /// Fills every byte of outputs and workspace before; 0xff.. is a NaN.
  unsigned char poison = 0xff;
  /// Says which output shares which input's memory.
  std::optional<graph::Overwrite> in_place = {};
  /// Computed in this order, each with a poisoned workspace of its own.
  std::vector<graph::Part> parts = {graph::Part{}};
};

std::vector<graph::TensorType> input_types(const OpCall& call);
std::vector<graph::TensorType> output_types(const OpCall& call);

/// Counts the units of which the call consists; it is 1 if its op is not to be shared.
std::int64_t units_of(const OpCall& call);

/// Returns the outputs. Inputs are never changed: an output computed in place works on a copy.
/// @throws std::logic_error if the kernel changed an input or wrote past an output or its
/// workspace.
std::vector<Tensor> run(const OpCall& call, const CallMemory& memory = {});

}  // namespace penstock::testing
