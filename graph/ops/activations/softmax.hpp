#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = exp(x) / sum(exp(x)) along the attribute `axis`, which is -1 by default; a negative
/// axis counts from the end. The input x may have any shape. The op is safe from overflow, and
/// elements that are -inf give exactly 0.
extern const Op softmax;
/// Maps (y, dy) to dx = y·(dy - sum(dy·y)).
extern const Op softmax_gradient;

/// Computes the logarithm of softmax, with the attribute `axis` of softmax.
extern const Op log_softmax;
/// Maps (y, dy) to dx = dy - exp(y)·sum(dy).
extern const Op log_softmax_gradient;

}  // namespace penstock::graph
