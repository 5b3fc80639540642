// These activations are smooth functions of one tensor, which may have any shape, or are smooth but
// for a kink at 0. They work element by element, and their gradients map (x, dy) to dx.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = scale·x above 0, and scale·alpha·(exp(input_scale·x) - 1) elsewhere. The attributes
/// alpha, scale and input_scale are 1 by default, which is the ELU (Clevert et al., 2016); SELU and
/// CELU have other constants. input_scale is above 0.
extern const Op elu;
extern const Op elu_gradient;

/// Computes y = x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2, which is gelu to about 3 digits.
extern const Op gelu_tanh;
extern const Op gelu_tanh_gradient;

/// Computes y = log(1/(1 + exp(-x))).
extern const Op logsigmoid;
extern const Op logsigmoid_gradient;

/// Computes y = x·tanh(log(1 + exp(x))) (Misra, 2019).
extern const Op mish;
extern const Op mish_gradient;

/// Computes y = log(1 + exp(beta·x))/beta, and y = x where beta·x is above the threshold. The
/// attributes are beta (1 by default), which is above 0, and threshold (20).
extern const Op softplus;
extern const Op softplus_gradient;

/// Computes y = x/(1 + |x|).
extern const Op softsign;
extern const Op softsign_gradient;

}  // namespace penstock::graph
