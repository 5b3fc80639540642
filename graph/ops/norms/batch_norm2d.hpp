#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// y = (x - mean)/sqrt(variance + eps)·weight + bias, where mean and variance are those of a
/// channel in this micro-batch (Ioffe and Szegedy, 2015). Inputs x [N,C,H,W] and weight, bias,
/// running_mean, running_var [C]; attributes eps (1e-5) and momentum (0.1). Outputs y, mean and
/// 1/sqrt(variance + eps) [C], and the new running_mean and running_var: old·(1 - momentum) +
/// new·momentum, with the unbiased variance. Its kernel throws Error shape_mismatch if a channel
/// has a single value.
extern const Op batch_norm2d;
/// (dy, x, mean, inverse_std, weight) -> dx.
extern const Op batch_norm2d_input_gradient;
/// (dy, x, mean, inverse_std) -> dweight [C], dbias [C].
extern const Op batch_norm2d_weight_gradient;

}  // namespace penstock::graph
