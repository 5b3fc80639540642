// These networks are chains of stages, for measuring the engine rather than kernels. Each stage is
// a block "B0", "B1" and so on. The networks have an input "x", a loss, and no other output.
#pragma once

#include <cstdint>

#include "penstock/model.hpp"

namespace penstock::benchmarks {

/// Returns `count` stages of one multiplication per sample each, for x [N,1].
Model empty_stages(int count);

inline constexpr int equal_stage_count = 4;
/// The input "x" of equal_stages() has this many features.
inline constexpr std::int64_t equal_stage_inputs = 768;
/// Returns four dense layers that take equally long, forward and backward together, for x [N,768].
Model equal_stages();

}  // namespace penstock::benchmarks
