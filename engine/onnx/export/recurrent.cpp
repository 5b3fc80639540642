// These functions write the recurrent layers. In the model, a linear layer computes what the gates
// get from the input, and an op goes through the steps; in ONNX, one node does both, with another
// order of gates.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/onnx/export/op_exports.hpp"
#include "engine/onnx/export/own_linear.hpp"
#include "graph/ops/arithmetic/linear.hpp"
#include "graph/ops/recurrent/gru.hpp"
#include "graph/ops/recurrent/lstm.hpp"
#include "graph/ops/recurrent/recurrence.hpp"
#include "graph/ops/recurrent/rnn.hpp"

namespace penstock {
namespace {

/// A RecurrentKind says how ONNX calls an op, and which gate of the op each of ONNX's gates is.
struct RecurrentKind {
  const char* op_type;
  Dims gates;
  bool has_cell;
};

/// A RecurrentExport writes the node of one op.
class RecurrentExport {
 public:
  RecurrentExport(NodeExport& n, const RecurrentKind& kind)
      : n_(n),
        kind_(kind),
        at_({.gates = std::ssize(kind.gates), .has_cell = kind.has_cell, .saved = 0}, n.attributes),
        width_(n.size(1, 1)) {}

  void write(OnnxSettings settings) {
    std::vector<std::string> inputs = gates_from_input();
    inputs.push_back(lengths());
    if (at_.hidden != 0) inputs.push_back(state(at_.hidden));
    if (at_.cell != 0) inputs.push_back(state(at_.cell));
    while (inputs.back().empty()) inputs.pop_back();
    settings.push_back(integer_setting("hidden_size", width_));
    if (n_.attributes.flag("reverse")) settings.push_back(text_setting("direction", "reverse"));
    std::size_t states = kind_.has_cell ? 2 : 1;
    while (states > 0 && !n_.is_read(states)) --states;
    const std::vector<std::string> outputs =
        n_.add_all(kind_.op_type, inputs, 1 + states, std::move(settings));
    n_.result_is(n_.transposed(n_.reshaped(outputs[0], 1, {-1, width_}), {1, 0, 2}));
    for (std::size_t i = 1; i <= states; ++i)
      if (n_.is_read(i)) n_.result_is(n_.reshaped(outputs[i], 0, {-1, width_}), i);
  }

 private:
  /// Returns the input [T,N,I], the weights and the biases of the node. If no linear layer computes
  /// what the gates get from the input, that is the input, and the weights are those of a unit
  /// matrix.
  std::vector<std::string> gates_from_input() {
    const graph::Node* const linear = own_linear(n_.model(), n_.node());
    std::string x = n_.input(0), weight, bias;
    if (linear) {
      x = n_.name_of(linear->inputs[0]);
      weight = in_order(n_.name_of(linear->inputs[1]));
      if (linear->inputs.size() == 3) bias = in_order(n_.name_of(linear->inputs[2]));
    } else {
      weight = in_order(unit_matrix());
    }
    const std::string recurrent = in_order(n_.input(1));
    std::string of_hidden;
    if (at_.bias != 0) of_hidden = in_order(n_.input(at_.bias));
    const std::string sequences = n_.transposed(x, {1, 0, 2});
    return {sequences, n_.unsqueezed(weight, {0}), n_.unsqueezed(recurrent, {0}),
            biases(bias, of_hidden)};
  }

  std::string biases(std::string of_input, std::string of_hidden) {
    if (of_input.empty() && of_hidden.empty()) return "";
    if (of_input.empty()) of_input = zeros();
    if (of_hidden.empty()) of_hidden = zeros();
    const std::string both = n_.add("Concat", {of_input, of_hidden}, {integer_setting("axis", 0)});
    return n_.reshaped(both, 0, {1, 2 * sums()});
  }

  std::string zeros() { return n_.nodes().constant(Tensor::zeros(DType::f32, {sums()})); }

  std::string unit_matrix() {
    std::vector<float> elements(static_cast<std::size_t>(sums() * sums()), 0.0f);
    for (std::int64_t i = 0; i < sums(); ++i)
      elements[static_cast<std::size_t>(i * sums() + i)] = 1;
    return n_.nodes().constant(Tensor({sums(), sums()}, std::span<const float>(elements)));
  }

  /// Returns a parameter whose rows belong to gates with the gates in the order of ONNX.
  std::string in_order(const std::string& parameter) {
    if (kind_.gates.size() == 1) return parameter;
    std::vector<std::string> parts;
    for (const std::int64_t gate : kind_.gates)
      parts.push_back(n_.add("Slice", {parameter, n_.list({gate * width_}),
                                       n_.list({(gate + 1) * width_}), n_.list({0})}));
    return n_.add("Concat", parts, {integer_setting("axis", 0)});
  }

  std::string lengths() {
    return at_.lengths == 0 ? "" : n_.cast(n_.input(at_.lengths), DType::i32);
  }

  std::string state(std::size_t i) { return n_.unsqueezed(n_.input(i), {0}); }

  std::int64_t sums() const { return std::ssize(kind_.gates) * width_; }

  NodeExport& n_;
  const RecurrentKind& kind_;
  graph::RecurrentInputs at_;
  std::int64_t width_;
};

// The model has the gates of an LSTM in the order i, f, g, o, and those of a GRU in the order r, z,
// n. ONNX calls g and n by the letters c and h.

void lstm(NodeExport& n) {
  RecurrentExport(n, {"LSTM", {0, 3, 1, 2}, true}).write({});
}

void gru(NodeExport& n) {
  RecurrentExport(n, {"GRU", {1, 0, 2}, false}).write({integer_setting("linear_before_reset", 1)});
}

void rnn(NodeExport& n) {
  OnnxSettings settings;
  if (n.attributes.text("nonlinearity", "tanh") == "relu") {
    settings.push_back({.name = "activations"});
    settings.back().texts = {"Relu"};
  }
  RecurrentExport(n, {"RNN", {0}, false}).write(std::move(settings));
}

}  // namespace

const graph::Node* own_linear(const graph::Graph& model, const graph::Node& node) {
  if (std::ranges::none_of(recurrent_exports(),
                           [&](const OpExport& entry) { return entry.op == node.op; }))
    return nullptr;
  const graph::ValueId gates = node.inputs[0];
  const graph::NodeId producer = model.value(gates).producer;
  if (producer == graph::none || model.node(producer).op != &graph::linear) return nullptr;
  const auto reads = [&](const graph::Node& other) {
    return std::ranges::count(other.inputs, gates);
  };
  std::ptrdiff_t uses = std::ranges::count(model.outputs, gates, &graph::Output::value);
  for (const graph::Node& other : model.nodes) uses += reads(other);
  return uses == 1 ? &model.node(producer) : nullptr;
}

std::span<const OpExport> recurrent_exports() {
  static constexpr std::array<OpExport, 3> exports{{
      {&graph::gru, gru},
      {&graph::lstm, lstm},
      {&graph::rnn, rnn},
  }};
  return exports;
}

}  // namespace penstock
