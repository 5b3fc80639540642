#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = (x - mean)/sqrt(variance + eps)·weight + bias over the last axes (Ba et al., 2016),
/// as many as weight has. The inputs are x [...,M...], weight [M...] and, if there is one, bias
/// [M...]; the attribute eps is 1e-5 by default. The outputs are y, and mean and 1/sqrt(variance +
/// eps) [...].
extern const Op layer_norm;
/// Maps (dy, x, mean, inverse_std, weight) to dx.
extern const Op layer_norm_input_gradient;
/// Maps (dy, x, mean, inverse_std) to dweight [M...], dbias [M...].
extern const Op layer_norm_weight_gradient;

}  // namespace penstock::graph
