#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = (x - mean)/sqrt(variance + eps)·weight + bias, where mean and variance are those of
/// a sample's group of neighbouring channels (Wu and He, 2018). The inputs are x [N,C,...] and,
/// both or neither, weight [C] and bias [C]. The attributes are num_groups (1 by default), which is
/// G below, and eps (1e-5 by default). The outputs are y, and mean and 1/sqrt(variance + eps)
/// [N,G].
extern const Op group_norm;
/// Maps (dy, x, mean, inverse_std[, weight]) to dx.
extern const Op group_norm_input_gradient;
/// Maps (dy, x, mean, inverse_std) to dweight [C], dbias [C].
extern const Op group_norm_weight_gradient;

}  // namespace penstock::graph
