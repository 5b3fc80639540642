#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// y = (x - mean)/sqrt(variance + eps)·weight + bias, where mean and variance are those of a
/// sample's group of neighbouring channels (Wu and He, 2018). Inputs x [N,C,...] and, both or
/// neither, weight [C] and bias [C]; attributes num_groups G and eps (1e-5). Outputs y, and mean
/// and 1/sqrt(variance + eps) [N,G].
extern const Op group_norm;
/// (dy, x, mean, inverse_std[, weight]) -> dx.
extern const Op group_norm_input_gradient;
/// (dy, x, mean, inverse_std) -> dweight [C], dbias [C].
extern const Op group_norm_weight_gradient;

}  // namespace penstock::graph
