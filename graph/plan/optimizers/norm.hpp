// Norms whose bits depend on the elements only: added up in fixed blocks, in a fixed order, whoever
// holds which of them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graph/values/part.hpp"

namespace penstock::graph {

/// The sum of the squares of scale·element, in double: each block of norm_block elements
/// (graph/kernels/updates/updates.hpp) by itself, then the blocks in order.
double squared_norm(std::span<const float> elements, float scale = 1);

/// What a shard of a tensor adds to its squared norm: the sums of the blocks that lie within, and
/// the elements of those that it begins and ends in the middle of. Shards may be smaller than
/// blocks.
struct NormPart {
  std::vector<float> head = {};  ///< of the block that began before the shard
  std::vector<double> blocks = {};
  std::vector<float> tail = {};  ///< of the block that goes on after it
};

/// How elements are found, counted in the whole tensor.
struct NormSource {
  std::function<double(const Part&)> squared_norm = {};  ///< of a whole block
  std::function<void(const Part&, float* to)> elements = {};
};
/// Makes `part` that of the elements `shard` of a tensor of so many, block after block. Allocates
/// nothing in a part that reserve() was called for.
void norm_part(const Part& shard, std::int64_t elements, const NormSource& source, NormPart& part);
/// Makes room in `part` for norm_part() of that shard.
void reserve(NormPart& part, const Part& shard, std::int64_t elements);
/// squared_norm() of a tensor of so many elements, from the parts of its shards in order. Allocates
/// nothing.
double squared_norm(std::span<const NormPart* const> shards, std::int64_t elements);

/// What to multiply every gradient with so that their common norm is at most about `max_norm`
/// (above 0), as torch.nn.utils.clip_grad_norm_: max_norm / (norm + 1e-6), at most 1; NaN if a norm
/// is NaN. Takes the squared norms of all parameters, in model order. With `exact`, as PopTorch:
/// max_norm / max(max_norm, norm).
double clip_factor(std::span<const double> squared_norms, double max_norm, bool exact = false);

}  // namespace penstock::graph
