#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Makes each element of x 0 with probability p, and multiplies it by 1/(1-p) otherwise (Srivastava
/// et al., 2014); the attribute p is 0.5 by default. The outputs are y and the mask, i64
/// [ceil(elements/64)]: bit i%64 of word i/64 says whether element i was kept, so that the gradient
/// needs neither x nor the random numbers. Number i of the sequence of the call's random key
/// decides about element i. In inference, the op is the identity.
///
/// If the attribute channels (0 by default) is 1, x is [N,C,...], and a bit decides about a whole
/// channel of a sample. If the attribute alpha (0 by default) is 1, a dropped element becomes
/// -1.758, and all elements are then scaled and shifted so that mean 0 and variance 1 stay what
/// they are (Klambauer et al., 2017).
extern const Op dropout;
/// Maps (dy, mask) to dx; the attributes are those of dropout.
extern const Op dropout_gradient;

}  // namespace penstock::graph
