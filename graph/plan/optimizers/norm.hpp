// These are norms whose bits depend on the elements alone. They are added up in fixed blocks, in a
// fixed order, whichever shard holds which elements.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graph/values/part.hpp"

namespace penstock::graph {

/// Returns the sum of the squares of scale·element, in double: each block of norm_block elements
/// (graph/kernels/updates/updates.hpp) is summed by itself, and then the blocks in order.
double squared_norm(std::span<const float> elements, float scale = 1);

/// Is what a shard of a tensor adds to the tensor's squared norm: the sums of the blocks that lie
/// within the shard, and the elements of the blocks that the shard has only in part. Shards may be
/// smaller than blocks.
struct NormPart {
  std::vector<float> head = {};  ///< Has the elements of the block that began before the shard.
  std::vector<double> blocks = {};
  std::vector<float> tail = {};  ///< Has the elements of the block that goes on after the shard.
};

/// Gives norms and elements of parts of a shard. The parts are ranges of elements of the whole
/// tensor.
struct NormSource {
  /// Returns the squared norm of a part that is a whole block: norm_block elements or, at the end
  /// of the tensor, those that are left.
  std::function<double(const Part&)> squared_norm = {};
  /// Writes the elements of a part to `to`.
  std::function<void(const Part&, float* to)> elements = {};
};
/// Computes `part` for the elements `shard` of a tensor of `elements` elements, block after block.
/// It allocates nothing if reserve() was called for the part.
void norm_part(const Part& shard, std::int64_t elements, const NormSource& source, NormPart& part);
/// Makes room in `part` for norm_part() of `shard`.
void reserve(NormPart& part, const Part& shard, std::int64_t elements);
/// Returns the squared norm of a tensor of `elements` elements from the parts of its shards, in
/// order. It allocates nothing.
double squared_norm(std::span<const NormPart* const> shards, std::int64_t elements);

/// Returns the factor by which every gradient is multiplied so that their common norm is at most
/// about `max_norm` (above 0). As in torch.nn.utils.clip_grad_norm_ it is max_norm / (norm + 1e-6),
/// and at most 1; with `exact`, as in PopTorch, it is max_norm / max(max_norm, norm). It is NaN if
/// a norm is NaN. The function takes the squared norms of all parameters, in model order.
double clip_factor(std::span<const double> squared_norms, double max_norm, bool exact = false);

}  // namespace penstock::graph
