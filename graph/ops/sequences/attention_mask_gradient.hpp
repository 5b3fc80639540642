#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Maps the inputs of attention or attention_dropout and dy to the gradient of attn_mask. The
/// scores are computed again, and their gradients are added up sample by sample, and head by head
/// within a sample.
extern const Op attention_mask_gradient;

}  // namespace penstock::graph
