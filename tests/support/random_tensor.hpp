// The tensors of these functions are drawn from a seed, and are the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/ir/op.hpp"
#include "penstock/tensor.hpp"

namespace penstock::testing {

/// Draws f32 elements that are independent and uniform in [low, high).
Tensor uniform(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1);

/// Draws f32 elements that are evenly spaced over [low, high), in a random order. Any two elements
/// are at least (high - low) / elements apart. If low = -high, each element is at least a quarter
/// of that distance from 0, so that a small step crosses no kink of relu or max.
Tensor spread(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1);

/// Draws elements of `dtype`, a type of integers, that are uniform in [0, limit).
Tensor labels(const Shape& shape, std::uint64_t seed, std::int64_t limit, DType dtype = DType::i64);

/// Returns `tensor`, which is f32, with `values` at positions that are spread over it.
Tensor with(const Tensor& tensor, const std::vector<float>& values);

/// Returns -1 for each element of `tensor` below 0, and 1 for every other element.
Tensor signs_of(const Tensor& tensor);

/// Returns whether input number `input` of `op` gets no gradient in `sample` by definition.
bool is_constant(const graph::Op& op, const graph::OpSample& sample, std::size_t input);

/// Draws the inputs of `op` for `sample`: f32 inputs by spread(), and the others by labels(). If
/// `sample.low` is negative, each element of a constant is replaced by its sign, -1 or 1, because
/// the targets of losses with a margin are such signs.
std::vector<Tensor> draw_inputs(const graph::Op& op, const graph::OpSample& sample,
                                std::uint64_t seed);

}  // namespace penstock::testing
