// These functions say what ops ask for: the time of those that read and write every operand once,
// and a workspace of floats or doubles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Counts `flops_per_element` operations for each element of input 0 or output 0, whichever has
/// more.
template <int flops_per_element>
Cost streaming_cost(const Attributes&, Types inputs, Types outputs) {
  const auto elements = std::max(inputs[0].shape.elements(), outputs[0].shape.elements());
  Cost cost{.flops = flops_per_element * static_cast<double>(elements)};
  for (const TensorType& type : inputs) cost.bytes += static_cast<double>(type.bytes());
  for (const TensorType& type : outputs) cost.bytes += static_cast<double>(type.bytes());
  return cost;
}

/// These are the units in which ops say how large a workspace is.
inline constexpr std::int64_t float_bytes = sizeof(float);
inline constexpr std::int64_t double_bytes = sizeof(double);

/// Returns a workspace of floats as kernels take it; doubles() returns one of doubles.
inline float* floats(std::span<std::byte> workspace) {
  return reinterpret_cast<float*>(workspace.data());
}
inline double* doubles(std::span<std::byte> workspace) {
  return reinterpret_cast<double*>(workspace.data());
}

}  // namespace penstock::graph
