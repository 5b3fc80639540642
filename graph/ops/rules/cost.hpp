// These functions estimate the cost of ops that read and write every operand once, and return the
// workspace as the floats or doubles that kernels take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Serves as Op::cost. Counts `flops_per_element` operations for each element of input 0 or of
/// output 0, whichever has more elements, and the bytes of all inputs and outputs.
template <int flops_per_element>
Cost streaming_cost(const Attributes&, Types inputs, Types outputs) {
  const auto elements = std::max(inputs[0].shape.elements(), outputs[0].shape.elements());
  Cost cost{.flops = flops_per_element * static_cast<double>(elements)};
  for (const TensorType& type : inputs) cost.bytes += static_cast<double>(type.bytes());
  for (const TensorType& type : outputs) cost.bytes += static_cast<double>(type.bytes());
  return cost;
}

/// These constants are the sizes in bytes of one float and of one double. Op::workspace counts in
/// bytes.
inline constexpr std::int64_t float_bytes = sizeof(float);
inline constexpr std::int64_t double_bytes = sizeof(double);

/// Returns `workspace` as the floats that kernels take; doubles() returns it as doubles.
inline float* floats(std::span<std::byte> workspace) {
  return reinterpret_cast<float*>(workspace.data());
}
inline double* doubles(std::span<std::byte> workspace) {
  return reinterpret_cast<double*>(workspace.data());
}

}  // namespace penstock::graph
