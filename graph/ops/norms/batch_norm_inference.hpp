#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// The op is batch_norm with the running statistics in place of the micro-batch's. The inputs are
/// x [N,C,...] and weight, bias, running_mean and running_var [C]; the attribute eps is 1e-5 by
/// default. The running statistics get no gradients.
extern const Op batch_norm_inference;
/// Maps (dy, weight, running_var) to dx.
extern const Op batch_norm_inference_input_gradient;
/// Maps (dy, x, running_mean, running_var) to dweight [C], dbias [C].
extern const Op batch_norm_inference_weight_gradient;

}  // namespace penstock::graph
