// These networks are chains of stages, each a block "B0", "B1" and so on, for measuring the engine
// rather than kernels. They have an input "x", a loss, and no other output.
#pragma once

#include <cstdint>

#include "penstock/model.hpp"

namespace penstock::benchmarks {

/// Makes `count` stages of one multiplication per sample each, for x [N,1].
Model empty_stages(int count);

inline constexpr int equal_stage_count = 4;
/// Counts the features of the input "x" of equal_stages().
inline constexpr std::int64_t equal_stage_inputs = 768;
/// Makes four dense layers that take equally long, forward and backward together, for x [N,768].
Model equal_stages();

}  // namespace penstock::benchmarks
