// This op raises numbers to powers. pow (graph/ops/arithmetic/elementary.hpp) does so with an
// exponent that the model knows.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Returns a to the power b, element by element, as C's pow() does, except that the power of a
/// negative zero is never negative. Shapes broadcast as in NumPy. The gradients are those of
/// PyTorch: that of a is 0 where b is 0, and that of b is 0 where a is 0 and b is not negative.
extern const Op power;

}  // namespace penstock::graph
