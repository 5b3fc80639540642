// Norms whose bits depend on the elements only: added up in fixed blocks, in a fixed order.
#pragma once

#include <cstddef>
#include <span>

namespace penstock::graph {

/// Elements of a block. A parameter may be cut between blocks, never inside one.
inline constexpr std::size_t norm_block = 8192;

/// The sum of the squares, in double: each block by itself, then the blocks in order.
double squared_norm(std::span<const float> elements);

/// What to multiply every gradient with so that their common norm is at most about `max_norm`
/// (above 0), as torch.nn.utils.clip_grad_norm_: max_norm / (norm + 1e-6), at most 1; NaN if a norm
/// is NaN. Takes the squared norms of all parameters, in model order.
double clip_factor(std::span<const double> squared_norms, double max_norm);

}  // namespace penstock::graph
