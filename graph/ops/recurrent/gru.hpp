#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes a layer of gated recurrent units in one direction (Cho et al., 2014; torch.nn.GRU),
/// from what its gates r, z and n get from the input of the layer. With a as what a gate gets from
/// the input and b as what it gets from the hidden state, each step computes r = σ(a + b),
/// z = σ(a + b), n = tanh(a + r·b) and h = (1 - z)·n + z·h. The inputs are gates [N,T,3·H] and
/// weight [3·H,H] and, where the flags bias, initial and lengths say so, bias [3·H], the initial
/// state h [N,H], and lengths [N]. The outputs are y [N,T,H], the last state [N,H] and, for the
/// gradient, the gates [N,T,3·H] behind their functions and b of the gate n [N,T,H]. The flags
/// reverse and lengths are those of lstm.
extern const Op gru;
/// Maps y, the weight, what gru has saved and the gradients of its outputs to the gradient of the
/// gates, the hidden states before all steps, the gradient of the initial state, and the gradient
/// of what the gates get from the hidden state.
extern const Op gru_gradient;

}  // namespace penstock::graph
