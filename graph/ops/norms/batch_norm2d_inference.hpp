#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// batch_norm2d with the running statistics in place of the micro-batch's: inputs x [N,C,H,W],
/// weight, bias, running_mean, running_var [C]; attribute eps (1e-5). The running statistics get no
/// gradients.
extern const Op batch_norm2d_inference;
/// (dy, weight, running_var) -> dx.
extern const Op batch_norm2d_inference_input_gradient;
/// (dy, x, running_mean, running_var) -> dweight [C], dbias [C].
extern const Op batch_norm2d_inference_weight_gradient;

}  // namespace penstock::graph
