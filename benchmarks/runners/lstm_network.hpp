// This is a network of sequences that only benchmarks need.
#pragma once

#include "penstock/model.hpp"

namespace penstock::benchmarks {

/// Returns a classifier of sequences [64,128] in ten classes: an LSTM of two layers, 128 wide, and
/// a linear layer over its last hidden state.
Model lstm_network();

}  // namespace penstock::benchmarks
