#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Maps the inputs of attention or attention_dropout and dy to the gradient of attn_mask. The
/// scores of all samples and heads are computed again, and their gradients are added up in that
/// order.
extern const Op attention_mask_gradient;

}  // namespace penstock::graph
