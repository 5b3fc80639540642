// These functions compute norms whose bits depend on the elements alone. The squares are added up
// in fixed blocks, in a fixed order, whichever shard holds which elements.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graph/values/part.hpp"

namespace penstock::graph {

/// Returns the sum of the squares of scale·element, in double: the squares of each block of
/// norm_block elements (graph/kernels/updates/updates.hpp) are summed first, and then the sums of
/// the blocks, in order.
double squared_norm(std::span<const float> elements, float scale = 1);

/// A NormPart is what a shard of a tensor contributes to the tensor's squared norm: the sums of the
/// blocks that lie within the shard, and the elements of the blocks that the shard has only in
/// part. Shards may be smaller than blocks.
struct NormPart {
  /// `head` are the elements of the block that begins before the shard.
  std::vector<float> head = {};
  std::vector<double> blocks = {};
  /// `tail` are the elements of the block that goes on after the shard.
  std::vector<float> tail = {};
};

/// A NormSource gives norms and elements of parts of a shard. The parts are ranges of elements of
/// the whole tensor.
struct NormSource {
  /// Returns the squared norm of a part that is a whole block: norm_block elements or, at the end
  /// of the tensor, the elements that are left.
  std::function<double(const Part&)> squared_norm = {};
  /// Writes the elements of a part to `to`.
  std::function<void(const Part&, float* to)> elements = {};
};
/// Computes `part` for the elements `shard` of a tensor of `elements` elements, block after block.
/// Allocates nothing if reserve() was called for `part`.
void norm_part(const Part& shard, std::int64_t elements, const NormSource& source, NormPart& part);
/// Makes room in `part` for what norm_part() writes for `shard`.
void reserve(NormPart& part, const Part& shard, std::int64_t elements);
/// Returns whether `part` has as many blocks and elements as norm_part() writes for `shard`.
bool fits(const NormPart& part, const Part& shard, std::int64_t elements);
/// Returns the squared norm of a tensor of `elements` elements from the parts of its shards, in
/// order. Each part fits its shard. Allocates nothing.
double squared_norm(std::span<const NormPart* const> shards, std::int64_t elements);

/// Returns the factor by which every gradient is multiplied so that the common norm of all
/// gradients is at most about `max_norm`, which is above 0. The factor is max_norm / (norm + 1e-6),
/// and at most 1, as in torch.nn.utils.clip_grad_norm_; with `exact`, it is max_norm /
/// max(max_norm, norm), as in PopTorch. The factor is NaN if a norm is NaN. `squared_norms` has the
/// squared norms of all parameters, in model order.
double clip_factor(std::span<const double> squared_norms, double max_norm, bool exact = false);

}  // namespace penstock::graph
