// The ops lstm, gru and rnn share these rules: which inputs a node has, what it costs and how its
// gradient is made of nodes.
//
// A node has the inputs gates [N,T,G·H] and weight [G·H,H] and then, if flags say so, bias [G·H],
// the initial states h [N,H] and, for lstm, c [N,H], and the lengths [N]. The gates are the sums
// that G gates get from the input of the layer, for N samples of T steps; H is the width of the
// hidden state. Each step adds to them what they get from the hidden state, h·weightᵀ + bias.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

namespace attribute {

/// The steps go from the last one to the first one.
inline constexpr FlagAttribute reverse{"reverse"};
/// These flags say which inputs a node has.
inline constexpr FlagAttribute has_bias{"bias"}, has_initial{"initial"}, has_lengths{"lengths"};
/// These flags say which gradients the node of a gradient has as inputs: that of the output, of the
/// last hidden state and of the last cell state.
inline constexpr FlagAttribute has_dy{"dy"}, has_dh{"dh"}, has_dc{"dc"};

}  // namespace attribute

/// A Recurrence says what one of the ops is like: how many gates it has, whether it has a cell
/// state, and how many outputs behind the states it saves for its gradient, which are two or none.
struct Recurrence {
  std::int64_t gates;
  bool has_cell;
  std::size_t saved;
};

/// A RecurrentInputs has the positions of those inputs of a node that it need not have; 0 says that
/// there is no such input.
struct RecurrentInputs {
  std::size_t bias = 0, hidden = 0, cell = 0, lengths = 0, count = 2;

  RecurrentInputs(const Recurrence& recurrence, const Attributes& attributes) {
    if (attribute::has_bias.of(attributes)) bias = count++;
    if (attribute::has_initial.of(attributes)) hidden = count++;
    if (hidden != 0 && recurrence.has_cell) cell = count++;
    if (attribute::has_lengths.of(attributes)) lengths = count++;
  }
};

/// A RecurrentSizes has the sizes of a node. `sums` is G·H.
struct RecurrentSizes {
  std::int64_t samples, steps, width, sums;

  /// Makes the sizes from the shapes of a tensor [N,T,...] and of the weight, which are inputs 0
  /// and 1 of the ops and of their gradients.
  RecurrentSizes(const Shape& sequences, const Shape& weight)
      : samples(sequences[0]), steps(sequences[1]), width(weight[1]), sums(weight[0]) {}
};

/// Checks the inputs of a node, and returns the types of y [N,T,H], of the last states [N,H] and of
/// what is saved for the gradient: the gates, and a tensor [N,T,H].
std::vector<TensorType> infer_recurrent(const Recurrence& recurrence, const Attributes& attributes,
                                        Types in);
/// Serves as Op::cost of the ops and of their gradients.
Cost recurrent_cost(const Attributes& attributes, Types in, Types out);
/// Serves as Op::make_valid of the ops and of their gradients: samples get all steps.
void fill_lengths(const Attributes& attributes, std::span<const Operand> inputs);
/// Returns the range of the lengths, if there are any.
std::vector<IndexRange> ranges_of_lengths(const Recurrence& recurrence,
                                          const Attributes& attributes, Types in);
/// Serves as Op::index_ranges of an op of the kind `recurrence`.
template <const Recurrence& recurrence>
std::vector<IndexRange> ranges_of_steps(const Attributes& attributes, Types in) {
  return ranges_of_lengths(recurrence, attributes, in);
}
/// Returns samples with and without a bias, initial states and lengths.
std::vector<OpSample> recurrent_samples(const Recurrence& recurrence);
/// Emits the node of the gradient, `gradient`, whose outputs are the gradient of the gates; the
/// hidden states before the steps; and the gradients of the initial states. Output number `sums` is
/// the gradient of the sums that come from the hidden state.
void emit_recurrent_gradient(GradientContext& context, const Recurrence& recurrence,
                             const Op& gradient, std::size_t sums);

}  // namespace penstock::graph
