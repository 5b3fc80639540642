#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = softmax(scale·q·kᵀ)·v for each sample and head (Vaswani et al., 2017). The inputs
/// are q [N,...,T,H·D], k [N,...,S,K·D] and v [N,...,S,K·E], whose last axes have the features of
/// heads side by side, and the output is [N,...,T,H·E]; or the input is qkv [N,...,T,(H+2·K)·D],
/// which has q, k and v side by side. The attributes are heads, which is H (1 by default);
/// kv_heads, which is K (H if it is 0, as it is by default) and divides H: each head of keys and
/// values serves H/K neighbouring heads of queries; causal (0 by default), which lets a query see
/// only the keys up to its own position, and needs T = S; and scale (1/√D if it is 0, as it is by
/// default).
///
/// If the flags key_padding_mask and attn_mask say so, masks follow as inputs: key_padding_mask
/// [N,S], which hides the keys at which it is above 0, and attn_mask [T,S], which
/// is added to the scores of every head. The output of a query that sees no key, because all its
/// scores are -inf, is 0, and so are the gradients that come from it.
///
/// The scores q·kᵀ are computed for some queries at a time and never kept, so that the memory that
/// the op needs grows with S, and not with T·S. The gradient computes them again.
extern const Op attention;
/// Does what attention does with a dropout of the softmax's results, of which each is dropped with
/// the probability p, an attribute (0 by default). The masks are those of the op dropout; the
/// gradient draws them again, so that they are never kept either. In inference, the op is
/// attention.
extern const Op attention_dropout;
/// Maps the inputs and dy to dq, dk and dv, or to dqkv.
extern const Op attention_gradient;

}  // namespace penstock::graph
