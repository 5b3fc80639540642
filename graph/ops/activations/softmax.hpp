#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// y = exp(x) / sum(exp(x)) along attribute `axis` (-1; negative counts from the end), x of any
/// shape; safe from overflow. Elements that are -inf give exactly 0.
extern const Op softmax;
/// (y, dy) -> dx = y·(dy - sum(dy·y)).
extern const Op softmax_gradient;

/// The logarithm of softmax, with the same attribute.
extern const Op log_softmax;
/// (y, dy) -> dx = dy - exp(y)·sum(dy).
extern const Op log_softmax_gradient;

}  // namespace penstock::graph
