// In the batch-lane layout, 16 samples lie side by side in the last axis: [N,C,H,W] becomes
// [ceil(N/16),C,H,W,16] and [N,K] becomes [ceil(N/16),K,16], so that one vector instruction works
// on 16 samples. If N is no multiple of 16, the last block has padding lanes. Padding lanes are
// always finite in forward values and zero in gradients, so that they change no gradient that is
// summed over lanes.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr IntegerAttribute batch{"batch"};

}  // namespace attribute

inline constexpr std::int64_t lane_count = 16;

/// Returns how many lanes `samples` samples take: the next multiple of 16, padding included.
constexpr std::int64_t lanes_for(std::int64_t samples) noexcept {
  return (samples + lane_count - 1) / lane_count * lane_count;
}

/// Returns the shape [ceil(N/16),...,16] in the batch-lane layout of a tensor [N,...].
Shape lane_shape(const Shape& batch_major);
/// Returns the shape [batch,...] of the tensor that is [B,...,16] in the batch-lane layout.
Shape batch_shape(const Shape& lanes, std::int64_t batch);

/// The winners of one vector of pooled lanes take this many floats. A winner says which cell of the
/// lane's window had the maximum. It is one byte, and four winners take one float.
inline constexpr std::int64_t winner_floats = lane_count / 4;
inline std::uint8_t* winners_of(const Operand& operand) {
  return static_cast<std::uint8_t*>(operand.data);
}

/// Checks that `type` is f32 with `rank` dimensions, the last of which is 16: "expected x with 16
/// lanes in the last dimension, got f32[3,10,12,12,8]".
void expect_lanes(const TensorType& type, std::size_t rank, std::string_view name);

/// Returns the number of samples in a tensor of the shape `lanes` [B,...,16]: the attribute
/// `batch`, or 16·B if the attribute is not set.
/// @throws Error shape_mismatch if the samples do not take exactly B blocks, such as "expected a
/// batch that fills 2 blocks of 16, got 16".
std::int64_t lane_batch(const Attributes& attributes, const Shape& lanes);

/// Checks that every lane of `lanes` [B,...,16] has a sample: "expected a sample in every lane, got
/// 20 samples".
void expect_full_lanes(const Attributes& attributes, const Shape& lanes);

}  // namespace penstock::graph
