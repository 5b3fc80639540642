// A workspace of floats is asked for, and taken by kernels, by these functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock::graph {

inline constexpr std::int64_t float_bytes = sizeof(float);

inline float* floats(std::span<std::byte> workspace) {
  return reinterpret_cast<float*>(workspace.data());
}

}  // namespace penstock::graph
