#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = x where x is above 0, and y = weight·x elsewhere (He et al., 2015). The inputs are
/// x [N,C,...] and weight [C], with a slope for each channel, or x of any shape and weight [1].
extern const Op prelu;
/// Maps (x, dy, weight) to dx.
extern const Op prelu_input_gradient;
/// Maps (x, dy, weight) to dweight, the sums of x·dy where x is not above 0.
extern const Op prelu_weight_gradient;

}  // namespace penstock::graph
