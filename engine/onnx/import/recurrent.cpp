// The recurrent operators, whose weights have another order of gates than Penstock's layers.
#include <array>

#include "engine/onnx/folding/elements.hpp"
#include "engine/onnx/import/operators.hpp"
#include "engine/onnx/import/unrolled_gru.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/linear.hpp"
#include "graph/ops/movement/concat.hpp"
#include "graph/ops/movement/slices.hpp"
#include "graph/ops/recurrent/gru.hpp"
#include "graph/ops/recurrent/lstm.hpp"
#include "graph/ops/recurrent/rnn.hpp"
#include "graph/values/text.hpp"

namespace penstock {
namespace {

/// A RecurrentKind says which op goes through the steps, and in which order ONNX has its gates. A
/// GRU without an op is one that is written out step by step.
struct RecurrentKind {
  const graph::Op* op;
  std::vector<std::int64_t> gates;  ///< Gate k of the op is ONNX's gate number `gates`[k].
  bool has_cell;
};

/// A RecurrentNode adds a recurrent node, one op for each direction.
class RecurrentNode {
 public:
  RecurrentNode(NodeImport& n, const RecurrentKind& kind) : n_(n), kind_(kind) {
    n.expect(n.rank(0) == 3 && n.rank(1) == 3 && n.rank(2) == 3,
             "expected an input and weights of three axes");
    hidden_ = n.dims(2)[2];
    batch_first_ = n.flag("layout");
    const std::string direction = n.text("direction", "forward");
    reverse_ = direction == "reverse";
    directions_ = direction == "bidirectional" ? 2 : 1;
    n.expect_supported(!n.node.find("clip"), "it clips its states");
    check_activations();
  }

  Results add() {
    find_sequences();
    for (std::int64_t direction = 0; direction < directions_; ++direction)
      add_direction(direction, reverse_ || direction == 1);
    Results results{sequences_result(), states_result(hidden_states_)};
    if (kind_.has_cell) results.push_back(states_result(cell_states_));
    return results;
  }

 private:
  void check_activations() const {
    const OnnxAttribute* const names = n_.node.find("activations");
    if (!names || names->texts.empty()) return;
    const std::vector<std::string> usual =
        kind_.has_cell            ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
        : kind_.gates.size() == 3 ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                  : std::vector<std::string>{names->texts[0]};
    for (std::size_t i = 0; i < names->texts.size(); ++i)
      n_.expect_supported(names->texts[i] == usual[i % usual.size()],
                          "its activation " + quoted_text(names->texts[i]) + " has no counterpart");
    if (kind_.gates.size() == 1)
      n_.expect_supported(usual[0] == "Tanh" || usual[0] == "Relu",
                          "its activation " + quoted_text(usual[0]) + " has no counterpart");
  }

  bool is_relu() const {
    const OnnxAttribute* const names = n_.node.find("activations");
    return kind_.gates.size() == 1 && names && !names->texts.empty() && names->texts[0] == "Relu";
  }

  /// Finds the value [N,T,I] of the input, whose samples are along the axis of the batch.
  void find_sequences() {
    Imported& x = n_.input(0);
    const std::size_t batch = batch_first_ ? 0 : 1;
    const Dims dims = n_.dims(0);
    if (!x.placement) throw MixedSamples{"its sequences do not depend on samples"};
    whole_ = x.placement->whole;
    if (whole_ ? dims[batch] != 1 : *x.placement != Placement{.axis = batch})
      throw MixedSamples{"its sequences have their samples along another axis"};
    steps_ = dims[batch_first_ ? 1 : 0];
    sequences_ = n_.value(0);
    if (whole_) sequences_ = n_.network.reshaped_value(sequences_, {0, steps_, dims[2]});
  }

  /// Returns direction `direction` of the input number `i` [D,...] without its first axis, and with
  /// the gates of its rows [from, from + gates·H) in the order of the op.
  Value gate_rows(std::size_t i, std::int64_t direction, std::int64_t from) {
    const Value all = n_.raw(i);
    const Dims dims = n_.dims(i);
    std::vector<Value> parts;
    for (const std::int64_t gate : kind_.gates)
      parts.push_back(rows(of_direction(all, direction), from + gate * hidden_));
    const Value joined =
        parts.size() == 1 ? parts[0] : n_.apply(graph::concat, parts, {{"axis", std::int64_t{1}}});
    Dims of_gates(dims.begin() + 1, dims.end());
    of_gates[0] = static_cast<std::int64_t>(kind_.gates.size()) * hidden_;
    return n_.network.reshaped_value(joined, of_gates);
  }

  Value of_direction(const Value& all, std::int64_t direction) {
    if (directions_ == 1) return all;
    return n_.apply(graph::slice, {all},
                    {{"axis", std::int64_t{0}}, {"begin", direction}, {"end", direction + 1}});
  }

  Value rows(const Value& one, std::int64_t first) {
    return n_.apply(graph::slice, {one},
                    {{"axis", std::int64_t{1}}, {"begin", first}, {"end", first + hidden_}});
  }

  void add_direction(std::int64_t direction, bool reverse) {
    const auto gates = static_cast<std::int64_t>(kind_.gates.size());
    graph::Attributes attributes;
    std::vector<Value> input{sequences_, gate_rows(1, direction, 0)};
    std::vector<Value> hidden{gate_rows(2, direction, 0)};
    if (n_.has(3)) {
      input.push_back(gate_rows(3, direction, 0));
      hidden.push_back(gate_rows(3, direction, gates * hidden_));
      attributes.set("bias", std::int64_t{1});
    }
    hidden.insert(hidden.begin(), n_.apply(graph::linear, input));
    if (!kind_.op) return add_unrolled(hidden, direction, reverse);
    add_states(hidden, attributes, direction);
    if (n_.has(4)) {
      if (const std::optional<Value> lengths = lengths_of(4)) {
        hidden.push_back(*lengths);
        attributes.set("lengths", std::int64_t{1});
      }
    }
    if (reverse) attributes.set("reverse", std::int64_t{1});
    if (is_relu()) attributes.set("nonlinearity", "relu");
    const Value y = n_.apply(*kind_.op, hidden, attributes);
    outputs_.push_back(y);
    hidden_states_.push_back(n_.network.other_output(y, 1));
    if (kind_.has_cell) cell_states_.push_back(n_.network.other_output(y, 2));
  }

  /// Adds the steps of a GRU that no op computes. `inputs` are the gates, the weight and, if the
  /// node has one, the bias.
  void add_unrolled(const std::vector<Value>& inputs, std::int64_t direction, bool reverse) {
    n_.expect_supported(!n_.has(4) || !lengths_of(4),
                        "it has linear_before_reset = 0 and lengths of sequences");
    UnrolledGru layer{.gates = inputs[0],
                      .weight = inputs[1],
                      .bias = inputs.size() > 2 ? inputs[2] : Value(),
                      .initial = {},
                      .steps = steps_,
                      .hidden = hidden_,
                      .reverse = reverse};
    if (n_.has(5) && !is_zero(n_.input(5))) layer.initial = state(n_.input(5), direction);
    const RecurrentOutputs outputs = unrolled_gru(n_, layer);
    outputs_.push_back(outputs.all);
    hidden_states_.push_back(outputs.last);
  }

  /// Returns the lengths of the sequences, or nothing if all have all steps.
  std::optional<Value> lengths_of(std::size_t i) {
    Imported& lengths = n_.input(i);
    if (!lengths.is_known()) {
      if (!lengths.placement || !lengths.placement->is_first())
        throw NeededInputs{lengths.sources,
                           "the lengths of its sequences have to count samples along axis 0"};
      return n_.network.integers(lengths);
    }
    check_lengths(lengths);
    n_.expect_supported(is_everywhere(lengths, steps_),
                        "its sequences have different lengths that are known at import");
    return std::nullopt;
  }

  /// Checks that lengths, which are known, are one integer for each sequence. A file that was made
  /// for one number of sequences has as many lengths, whatever the number is here.
  void check_lengths(const Imported& lengths) const {
    const ProbedDims dims = n_.network.dims(n_.input(0));
    for (std::size_t probe = 0; probe < probes; ++probe) {
      const Tensor& tensor = lengths.known[probe];
      const Shape &shape = tensor.shape(), expected{dims[probe][batch_first_ ? 0 : 1]};
      const bool fits = lengths.is_constant() ? shape.rank() == 1 : shape == expected;
      n_.expect(tensor.dtype() != DType::f32 && fits,
                "expected integers of shape " + to_string(expected) +
                    ", one for each sequence, as its lengths, got " +
                    std::string(to_string(tensor.dtype())) + to_string(shape));
    }
  }

  /// Returns whether each element of x, which is known, is `number`. Counts what it reads.
  bool is_everywhere(const Imported& x, std::int64_t number) const {
    for (std::size_t probe = 0; probe < (x.is_constant() ? 1 : probes); ++probe) {
      const Tensor& tensor = x.known[probe];
      const auto count = static_cast<std::size_t>(tensor.elements());
      n_.network.computed_count().add_elements(count);
      const ElementReader<double> numbers(tensor);
      for (std::size_t i = 0; i < count; ++i)
        if (numbers[i] != static_cast<double>(number)) return false;
    }
    return true;
  }

  /// Adds the initial states of one direction to the inputs of the op, unless they are zeros.
  void add_states(std::vector<Value>& inputs, graph::Attributes& attributes,
                  std::int64_t direction) {
    const std::size_t last = kind_.has_cell ? 6 : 5;
    bool any = false;
    for (std::size_t i = 5; i <= last; ++i) any = any || (n_.has(i) && !is_zero(n_.input(i)));
    if (!any) return;
    for (std::size_t i = 5; i <= last; ++i) {
      n_.expect_supported(n_.has(i), "it has one initial state of two");
      inputs.push_back(state(n_.input(i), direction));
    }
    attributes.set("initial", std::int64_t{1});
  }

  bool is_zero(const Imported& x) const {
    return x.is_known() && !x.trainable && is_everywhere(x, 0);
  }

  /// Returns the state [N,H] of one direction.
  Value state(Imported& states, std::int64_t direction) {
    n_.expect(n_.network.rank(states) == 3, "expected initial states of three axes");
    const Placement placement =
        whole_ ? Placement{.whole = true} : Placement{.axis = batch_first_ ? 0u : 1u};
    Value all = n_.network.with_samples(states, placement);
    if (whole_) all = n_.network.reshaped_value(all, {0, directions_, hidden_});
    const Value one =
        n_.apply(graph::slice, {all},
                 {{"axis", std::int64_t{1}}, {"begin", direction}, {"end", direction + 1}});
    return n_.network.reshaped_value(one, {0, hidden_});
  }

  /// Returns the outputs of all steps: [T,D,N,H], or [N,T,D,H] with the batch first.
  Imported sequences_result() {
    std::vector<Value> parts;
    for (const Value& output : outputs_)
      parts.push_back(n_.network.reshaped_value(output, {0, steps_, 1, hidden_}));
    const Value joined = joined_along(parts, 2);
    if (!whole_)
      return n_.result(joined, n_.input(0).type, Placement{.axis = batch_first_ ? 0u : 2u});
    const Dims dims = batch_first_ ? Dims{0, 1, steps_, directions_, hidden_}
                                   : Dims{0, steps_, directions_, 1, hidden_};
    return n_.like_first(n_.network.reshaped_value(joined, dims));
  }

  /// Returns the last states: [D,N,H], or [N,D,H] with the batch first.
  Imported states_result(const std::vector<Value>& states) {
    std::vector<Value> parts;
    for (const Value& one : states)
      parts.push_back(n_.network.reshaped_value(one, {0, 1, hidden_}));
    const Value joined = joined_along(parts, 1);
    if (!whole_)
      return n_.result(joined, n_.input(0).type, Placement{.axis = batch_first_ ? 0u : 1u});
    const Dims dims =
        batch_first_ ? Dims{0, 1, directions_, hidden_} : Dims{0, directions_, 1, hidden_};
    return n_.like_first(n_.network.reshaped_value(joined, dims));
  }

  Value joined_along(const std::vector<Value>& parts, std::int64_t axis) {
    return parts.size() == 1 ? parts[0] : n_.apply(graph::concat, parts, {{"axis", axis}});
  }

  NodeImport& n_;
  const RecurrentKind& kind_;
  std::int64_t hidden_ = 0, steps_ = 0, directions_ = 1;
  bool batch_first_ = false, reverse_ = false, whole_ = false;
  Value sequences_;
  std::vector<Value> outputs_, hidden_states_, cell_states_;
};

// ONNX has the gates of LSTM in the order i, o, f, c, and those of GRU in the order z, r, h.
Results lstm(NodeImport& n) {
  n.expect_supported(!n.has(7), "its peepholes have no counterpart");
  n.expect_supported(!n.flag("input_forget"), "its input gate and its forget gate are one");
  const RecurrentKind kind{&graph::lstm, {0, 2, 3, 1}, true};
  return RecurrentNode(n, kind).add();
}

Results gru(NodeImport& n) {
  const RecurrentKind kind{n.flag("linear_before_reset") ? &graph::gru : nullptr, {1, 0, 2}, false};
  return RecurrentNode(n, kind).add();
}

Results rnn(NodeImport& n) {
  const RecurrentKind kind{&graph::rnn, {0}, false};
  return RecurrentNode(n, kind).add();
}

}  // namespace

std::span<const OnnxOperator> recurrent_operators() {
  static constexpr std::array<OnnxOperator, 3> operators{{
      {"GRU", gru},
      {"LSTM", lstm},
      {"RNN", rnn},
  }};
  return operators;
}

}  // namespace penstock
