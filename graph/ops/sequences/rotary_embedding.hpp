#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Rotates pairs of features of each head of x [N,...,T,H·D] by angles that grow with the position
/// t along the second axis from the end (Su et al., 2021): (a, b) becomes (a·cos - b·sin,
/// b·cos + a·sin). The attributes are heads, which is H (1 by default); features, which is R, the
/// number of features of a head that are rotated (D if it is 0, as it is by default), those behind
/// them stay as they are; base (10000 by default); interleaved; and inverse (both 0 by default),
/// which rotates back. Pair i of R/2 pairs has the angle t·base^(-2i/R). It is made of features i
/// and i + R/2 or, if interleaved is 1, of features 2i and 2i + 1. Positions count from 0 or, if
/// the flag position says so, from an element of input 1, which is i64 [N].
extern const Op rotary_embedding;

}  // namespace penstock::graph
