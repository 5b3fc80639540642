#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// log(x) of x clipped to attributes low (1e-7) and high (1 - 1e-7): how probabilities become
/// logits (Keras, from_logits=False). One input of any shape.
extern const Op clipped_log;
/// (x, dy) -> dx = dy/x, 0 where x was clipped.
extern const Op clipped_log_gradient;

}  // namespace penstock::graph
