#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes a recurrent layer of one gate in one direction (Elman, 1990; torch.nn.RNN), from what
/// the gate gets from the input of the layer. Each step computes h = tanh(gate + h·weightᵀ + bias),
/// or max(…, 0) if the attribute nonlinearity is "relu" and not "tanh", its default. The inputs are
/// gates [N,T,H] and weight [H,H] and, where the flags bias, initial and lengths say so, bias [H],
/// the initial state h [N,H], and lengths [N]. The outputs are y [N,T,H] and the last state [N,H].
/// The flags reverse and lengths are those of lstm.
extern const Op rnn;
/// Maps y, the weight and the gradients of the outputs of rnn to the gradient of the gates, the
/// hidden states before all steps, and the gradient of the initial state.
extern const Op rnn_gradient;

}  // namespace penstock::graph
