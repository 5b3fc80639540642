#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// c = a·b over the last two axes (torch.matmul), for every index of the axes before, which a and b
/// share: a [...,M,K], b [...,K,N] -> c [...,M,N]. With attribute transpose_a (0) a is given as
/// [...,K,M], with transpose_b (0) b as [...,N,K]. Its gradients are products of the same kind.
extern const Op matmul;

}  // namespace penstock::graph
