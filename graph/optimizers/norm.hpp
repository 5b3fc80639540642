// Norms whose bits depend on the elements only: added up in fixed blocks, in a fixed order.
#pragma once

#include <span>

namespace penstock::graph {

/// The sum of the squares of scale·element, in double: each block of norm_block elements
/// (graph/kernels/updates.hpp) by itself, then the blocks in order.
double squared_norm(std::span<const float> elements, float scale = 1);

/// What to multiply every gradient with so that their common norm is at most about `max_norm`
/// (above 0), as torch.nn.utils.clip_grad_norm_: max_norm / (norm + 1e-6), at most 1; NaN if a norm
/// is NaN. Takes the squared norms of all parameters, in model order. With `exact`, as PopTorch:
/// max_norm / max(max_norm, norm).
double clip_factor(std::span<const double> squared_norms, double max_norm, bool exact = false);

}  // namespace penstock::graph
