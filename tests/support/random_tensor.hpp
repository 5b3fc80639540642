// These tensors are drawn from a seed, and are the same on every machine.
#pragma once

#include <cstdint>

#include "graph/ir/op.hpp"
#include "penstock/tensor.hpp"

namespace penstock::testing {

/// Draws f32 elements, independent and uniform in [low, high).
Tensor uniform(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1);

/// Draws f32 elements evenly spaced over [low, high) in random order: any two are at least (high -
/// low) / elements apart, and a quarter of that from 0 if low = -high, so that a small step crosses
/// no kink of relu or max.
Tensor spread(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1);

/// Draws i64 elements, uniform in [0, limit).
Tensor labels(const Shape& shape, std::uint64_t seed, std::int64_t limit);

/// Returns -1 for each element below 0, and 1 for every other.
Tensor signs_of(const Tensor& tensor);

/// Draws the inputs of an op's sample: `spread` for f32, `labels` for i64. Constants from both
/// sides of 0 are signs, which are the targets of losses with a margin.
std::vector<Tensor> draw_inputs(const graph::OpSample& sample, std::uint64_t seed);

}  // namespace penstock::testing
