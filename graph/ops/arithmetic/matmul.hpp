#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes c = a·b over the last two axes (torch.matmul), for every index of the axes before them,
/// which broadcast as in NumPy: a [...,M,K] and b [...,K,N] give c [...,M,N]. With the attribute
/// transpose_a (0 by default), a is given as [...,K,M]; with transpose_b (0 by default), b is given
/// as [...,N,K]. The gradients are computed by matmul, too; those of an operand that was broadcast
/// are summed in the order of the matrices.
extern const Op matmul;

}  // namespace penstock::graph
