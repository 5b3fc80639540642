#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes a layer of long short-term memory in one direction (Hochreiter and Schmidhuber, 1997;
/// torch.nn.LSTM), from what its gates i, f, g and o get from the input of the layer. Each step
/// computes c = σ(f)·c + σ(i)·tanh(g) and h = σ(o)·tanh(c). The inputs are gates [N,T,4·H] and
/// weight [4·H,H] and, where the flags bias, initial and lengths say so, bias [4·H], the initial
/// states h [N,H] and c [N,H], and lengths [N]. The outputs are y [N,T,H], the last states h and c
/// [N,H] and, for the gradient, the gates [N,T,4·H] behind their functions and the cell states
/// [N,T,H]. The flag reverse has the steps go from the last one to the first one. With lengths, a
/// sample has only its first steps; y is 0 for the others.
extern const Op lstm;
/// Maps y, the weight, what lstm has saved and the gradients of its outputs to the gradient of the
/// gates, the hidden states before all steps, and the gradients of the initial states.
extern const Op lstm_gradient;

}  // namespace penstock::graph
