// These ops compute the gradients of norms by the statistics of the micro-batch.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Maps (dy, x, mean, inverse_std, weight) to dx, dweight [C] and dbias [C], which share their
/// sums.
extern const Op batch_norm_gradients;
/// Maps (dy, x, mean, inverse_std, weight, bias) to the same for a norm that clamps its result. The
/// attributes are low and high.
extern const Op clamped_batch_norm_gradients;

}  // namespace penstock::graph
