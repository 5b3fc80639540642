#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes log(x) of x clipped to the attributes low (1e-7 by default) and high (1 - 1e-7), by
/// which probabilities become logits (Keras, from_logits=False). The one input may have any shape.
extern const Op clipped_log;
/// Maps (x, dy) to dx = dy/x, which is 0 where x was clipped.
extern const Op clipped_log_gradient;

}  // namespace penstock::graph
