#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = softmax(scale·q·kᵀ)·v for each sample and head (Vaswani et al., 2017). The inputs
/// are q [N,...,S,H·D], k [N,...,T,H·D] and v [N,...,T,H·E], whose last axes have the features of H
/// heads side by side, and the output is [N,...,S,H·E]; or the input is qkv [N,...,T,3·H·D], which
/// has q, k and v side by side. The attributes are heads, which is H (1 by default); causal (0 by
/// default), which lets a query see only the keys up to its own position, and needs S = T; and
/// scale (1/√D if it is 0, as it is by default).
///
/// The scores q·kᵀ are computed for some queries at a time and never kept, so that the memory that
/// the op needs grows with T, and not with S·T. The gradient computes them again.
extern const Op attention;
/// Maps (q, k, v, dy) to dq, dk, dv, and (qkv, dy) to dqkv.
extern const Op attention_gradient;

}  // namespace penstock::graph
