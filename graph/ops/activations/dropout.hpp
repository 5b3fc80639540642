#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Each element of x is 0 with probability p and x/(1-p) otherwise (Srivastava et al., 2014);
/// attribute p (0.5). Outputs y and the mask, i64 [ceil(elements/64)]: bit i%64 of word i/64 says
/// whether element i was kept, so the way back needs neither x nor the random numbers again.
/// Element i belongs to draw i of the call's random key. At inference: identity.
extern const Op dropout;
/// (dy, mask) -> dx; attribute p.
extern const Op dropout_gradient;

}  // namespace penstock::graph
