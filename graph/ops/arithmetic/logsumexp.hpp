#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes the logarithm of the sum of exp(x) along the axes that the attribute axes lists, which
/// must have at least one element each; see sum. The largest element is subtracted before and added
/// behind, so that nothing overflows.
extern const Op logsumexp;

}  // namespace penstock::graph
