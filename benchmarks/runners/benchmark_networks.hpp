// These are the networks that the engine and PyTorch run in turns: those of apps/networks,
// "keywords", a network for spoken words with depthwise convolutions, and "lstm", a classifier of
// sequences by an LSTM of two layers and a linear layer over its last hidden state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/model.hpp"

namespace penstock::benchmarks {

/// Returns the network called `name`. Its last input are classes, its output "logits" has a row for
/// each of them, and its loss is their mean cross-entropy. Only "gpt-decoder", which has the
/// weights of "gpt", is not trained: its samples are the tokens of a text, in their order.
Model build_network(const std::string& name);

/// An InputSize says what one sample of an input is.
struct InputSize {
  std::vector<std::int64_t> shape;
  /// If `classes` is 0, the elements are floats; otherwise they are whole numbers from 0 to
  /// `classes` - 1.
  std::int64_t classes = 0;
};
/// Returns the sizes of the inputs of the network called `name`, in their order.
std::vector<InputSize> inputs_of(const std::string& name);

}  // namespace penstock::benchmarks
