// Batch norm normalises by the statistics of the micro-batch in training, and by running statistics
// in inference.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = (x - mean)/sqrt(variance + eps)·weight + bias, where mean and variance are those of
/// a channel in this micro-batch (Ioffe and Szegedy, 2015). The inputs are x [N,C,H,W] and weight,
/// bias, running_mean and running_var [C]; the attributes are eps (1e-5 by default) and momentum
/// (0.1). The outputs are y, mean and 1/sqrt(variance + eps) [C], and the new running_mean and
/// running_var: old·(1 - momentum) + new·momentum, with the unbiased variance. The kernel throws
/// Error shape_mismatch if a channel has a single value.
extern const Op batch_norm2d;
/// Maps (dy, x, mean, inverse_std, weight) to dx.
extern const Op batch_norm2d_input_gradient;
/// Maps (dy, x, mean, inverse_std) to dweight [C], dbias [C].
extern const Op batch_norm2d_weight_gradient;

/// The op is batch_norm2d with the running statistics in place of the micro-batch's. The inputs are
/// x [N,C,H,W] and weight, bias, running_mean and running_var [C]; the attribute eps is 1e-5 by
/// default. The running statistics get no gradients.
extern const Op batch_norm2d_inference;
/// Maps (dy, weight, running_var) to dx.
extern const Op batch_norm2d_inference_input_gradient;
/// Maps (dy, x, running_mean, running_var) to dweight [C], dbias [C].
extern const Op batch_norm2d_inference_weight_gradient;

}  // namespace penstock::graph
