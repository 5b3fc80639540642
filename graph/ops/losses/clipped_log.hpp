#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes log(x) of x clipped to the range from the attribute low (1e-7 by default) to the
/// attribute high (1 - 1e-7 by default). This makes logits of probabilities (Keras,
/// from_logits=False). The one input may have any shape.
extern const Op clipped_log;
/// Maps (x, dy) to dx = dy/x, which is 0 where x was clipped.
extern const Op clipped_log_gradient;

}  // namespace penstock::graph
