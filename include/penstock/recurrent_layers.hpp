// These are the recurrent layers of a Model, with PyTorch's parameters and numbers. docs/layers.md
// says what differs from PyTorch.
#pragma once

#include <cstdint>
#include <string>

#include "penstock/layers.hpp"
#include "penstock/value.hpp"

namespace penstock {

/// A Nonlinearity is the function whose results are the hidden states of Model::rnn(): the
/// hyperbolic tangent, or the larger of 0 and its argument.
enum class Nonlinearity : std::uint8_t { tanh, relu };

/// RecurrentOptions are the options of Model::lstm(), gru() and rnn(). H is `hidden_size`, and S is
/// the number of states: `layers`, times 2 if `bidirectional` is true.
struct RecurrentOptions {
  std::int64_t hidden_size = 0;  ///< The hidden state of a layer has this size, from 1 to 2^28.
  int layers = 1;                ///< Each layer reads the output of the layer before it.
  /// If this is true, each layer also goes through the steps backwards, with other parameters, and
  /// the outputs of both directions stand side by side.
  bool bidirectional = false;
  /// In training, this share of the elements is dropped between two layers.
  double dropout = 0;
  bool bias = true;  ///< `bias` says whether the layers have the biases.
  /// Only rnn() takes another nonlinearity than Nonlinearity::tanh.
  Nonlinearity nonlinearity = Nonlinearity::tanh;
  /// If `lengths`, i64, i32 or u8 [N], is set, sample i has only its first lengths[i] steps, which
  /// are 0 to T. The output is 0 at the other steps. As with PyTorch's packed sequences, the last
  /// state is that of the sample's own last step, and the backward direction begins there.
  Value lengths = {};
  /// `initial_hidden` has the first hidden states [N,S,H]. Without it, they are 0.
  Value initial_hidden = {};
  /// `initial_cell` has the first cell states [N,S,H] of lstm(), for which either both
  /// `initial_hidden` and `initial_cell` are set, or neither. gru() and rnn() refuse it.
  Value initial_cell = {};
};

/// A Recurrent is what a recurrent layer computes. Index i of the S states is layer i or, if the
/// layer is bidirectional, layer i/2, forwards for an even i and backwards for an odd i.
struct Recurrent {
  /// `output` has the hidden states of the last layer at all steps: [N,T,H] or [N,T,2·H].
  Value output;
  Value hidden;  ///< `hidden` has the last hidden states [N,S,H].
  Value cell;    ///< `cell` has the last cell states [N,S,H] of lstm(); gru() and rnn() have none.
};

/// RecurrentLayers are the methods of Model that add recurrent layers over x [N,T,I], which has T
/// steps of I features. Layer k has the parameters NAME.weight_ih_lk [G·H,I], NAME.weight_hh_lk
/// [G·H,H], NAME.bias_ih_lk and NAME.bias_hh_lk [G·H], where G is the number of gates, and the
/// backward direction has others, whose names end in "_reverse". All start evenly distributed from
/// -1/sqrt(H) to 1/sqrt(H).
class RecurrentLayers : public Layers {
 public:
  /// Adds layers of long short-term memory (torch.nn.LSTM), with the four gates i, f, g and o.
  Recurrent lstm(const std::string& name, Value x, const RecurrentOptions& options);
  /// Adds layers of gated recurrent units (torch.nn.GRU), with the three gates r, z and n.
  Recurrent gru(const std::string& name, Value x, const RecurrentOptions& options);
  /// Adds plain recurrent layers (torch.nn.RNN), with one gate.
  Recurrent rnn(const std::string& name, Value x, const RecurrentOptions& options);

 protected:
  RecurrentLayers() = default;
};

}  // namespace penstock
