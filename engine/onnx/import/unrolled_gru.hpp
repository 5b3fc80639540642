// unrolled_gru() adds a layer of gated recurrent units step by step, in the form that the op gru
// does not have.
#pragma once

#include <cstdint>

#include "engine/onnx/import/node_import.hpp"

namespace penstock {

/// UnrolledGru are the inputs of a layer of gated recurrent units in one direction, whose reset
/// gate comes before the product (linear_before_reset = 0). The gates are r, z and n, in this
/// order.
struct UnrolledGru {
  Value gates;    ///< These are what the gates get from the input of the layer, [N,T,3·H].
  Value weight;   ///< This is the weight of the hidden state, [3·H,H].
  Value bias;     ///< This is the bias beside `weight`, [3·H]; it may be empty.
  Value initial;  ///< This is the hidden state before the first step, [N,H]; empty stands for 0.
  std::int64_t steps, hidden;
  bool reverse = false;  ///< The last step is the first one to be computed.
};

/// RecurrentOutputs are the hidden states of all steps, [N,T,H], and the last one, [N,H].
struct RecurrentOutputs {
  Value all, last;
};

/// Adds the layer: each step computes r = σ(a + b), z = σ(a + b), n = tanh(a + (r·h)·Wᵀ + bias) and
/// h = (1 - z)·n + z·h, with a as what a gate gets from the input and b as what it gets from h.
/// @throws Error unsupported for more steps, in this layer or in all so far, than are written out.
RecurrentOutputs unrolled_gru(NodeImport& n, const UnrolledGru& layer);

}  // namespace penstock
