#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// y = (x - mean)/sqrt(variance + eps)·weight + bias over the last axes (Ba et al., 2016): those of
/// the weight. Inputs x [...,M...], weight [M...] and, if there is one, bias [M...]; attribute eps
/// (1e-5). Outputs y, and mean and 1/sqrt(variance + eps) [...].
extern const Op layer_norm;
/// (dy, x, mean, inverse_std, weight) -> dx.
extern const Op layer_norm_input_gradient;
/// (dy, x, mean, inverse_std) -> dweight [M...], dbias [M...].
extern const Op layer_norm_weight_gradient;

}  // namespace penstock::graph
