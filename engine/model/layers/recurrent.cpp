// These are the recurrent layers of Model. Each layer and direction is made of a linear layer over
// all steps and of an op that goes through the steps.
#include <cmath>
#include <utility>

#include "engine/model/model_state.hpp"
#include "graph/ops/activations/dropout.hpp"
#include "graph/ops/arithmetic/linear.hpp"
#include "graph/ops/movement/concat.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/movement/slices.hpp"
#include "graph/ops/recurrent/gru.hpp"
#include "graph/ops/recurrent/lstm.hpp"
#include "graph/ops/recurrent/rnn.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// A layer has at most this many hidden numbers, so that the sizes of its parameters can be
/// counted.
constexpr std::int64_t most_hidden = std::int64_t{1} << 28;

using graph::ValueId;
using Ids = std::vector<ValueId>;

/// A RecurrentKind says which op goes through the steps, how many gates it has, and whether it has
/// a cell state.
struct RecurrentKind {
  const graph::Op& op;
  std::int64_t gates;
  bool has_cell;
};

/// A RecurrentStack adds the layers and directions of one recurrent layer of a Model.
class RecurrentStack {
 public:
  RecurrentStack(ModelState& impl, const RecurrentKind& kind, const std::string& name,
                 const RecurrentOptions& options)
      : impl_(impl), network_(impl.network), kind_(kind), name_(name), options_(options) {}

  Recurrent over(const Value& sequences) {
    ValueId x = impl_.id(subject(), sequences);
    check(x);
    NetworkBuilder::Draft draft(network_);
    find_inputs();
    for (int layer = 0; layer < options_.layers; ++layer) x = add_layer(x, layer);
    const ValueId hidden = joined(hidden_, ".hidden");
    const ValueId cell = kind_.has_cell ? joined(cell_, ".cell") : graph::none;
    impl_.add_weights(impl_.new_weights());
    draft.keep();
    return {.output = impl_.value(x),
            .hidden = impl_.value(hidden),
            .cell = kind_.has_cell ? impl_.value(cell) : Value()};
  }

 private:
  int directions() const { return options_.bidirectional ? 2 : 1; }
  std::int64_t sums() const { return kind_.gates * options_.hidden_size; }
  std::string subject() const { return std::string(kind_.op.name) + " " + quoted_text(name_); }
  const Shape& shape(ValueId id) const { return network_.graph().type(id).shape; }

  void expect(bool holds, const std::string& text, Errc code = Errc::shape_mismatch) const {
    if (!holds) throw Error(code, subject() + ": " + text);
  }
  void expect_positive(const std::string& what, std::int64_t number) const {
    expect(number >= 1, "expected " + what + " of 1 or more, got " + std::to_string(number));
  }

  void check(ValueId x) const {
    network_.expect_new_layer(kind_.op.name, name_);
    const graph::TensorType& type = network_.graph().type(x);
    expect(type.dtype == DType::f32 && type.shape.rank() == 3,
           "expected x of type f32 and shape [N,T,I], got " + to_string(type));
    expect(type.shape.elements() > 0, graph::elements_refusal("x", to_string(type)));
    expect_positive("hidden_size", options_.hidden_size);
    expect(options_.hidden_size <= most_hidden, "expected hidden_size of at most " +
                                                    std::to_string(most_hidden) + ", got " +
                                                    std::to_string(options_.hidden_size));
    expect_positive("layers", options_.layers);
    expect(options_.dropout >= 0 && options_.dropout <= 1,
           "expected dropout from 0 to 1, got " + number_text(options_.dropout),
           Errc::invalid_argument);
    expect(options_.dropout == 0 || options_.layers > 1,
           "expected no dropout, because it stands between layers and there is one layer, got " +
               number_text(options_.dropout),
           Errc::invalid_argument);
    expect(&kind_.op == &graph::rnn || options_.nonlinearity == Nonlinearity::tanh,
           "expected Nonlinearity::tanh, because only rnn takes another one, got "
           "Nonlinearity::relu",
           Errc::invalid_argument);
    expect(kind_.has_cell || !options_.initial_cell,
           "expected no initial_cell, because only lstm has a cell state, got one; give "
           "initial_hidden only",
           Errc::invalid_argument);
    expect(!kind_.has_cell || !options_.initial_cell == !options_.initial_hidden,
           "expected both initial_hidden and initial_cell or neither, got one of them",
           Errc::invalid_argument);
  }

  /// Finds the values that `options_` names, and checks the initial states.
  void find_inputs() {
    if (options_.initial_hidden) initial_hidden_ = state("initial_hidden", options_.initial_hidden);
    if (options_.initial_cell) initial_cell_ = state("initial_cell", options_.initial_cell);
    if (options_.lengths) lengths_ = impl_.id(subject(), options_.lengths);
  }

  ValueId state(const char* what, const Value& value) const {
    const ValueId id = impl_.id(subject(), value);
    const std::int64_t states = std::int64_t{options_.layers} * directions();
    const auto& type = network_.graph().type(id);
    expect(type.dtype == DType::f32 && type.shape == Shape({1, states, options_.hidden_size}),
           std::string("expected ") + what + " of type f32 and shape [N," + std::to_string(states) +
               "," + std::to_string(options_.hidden_size) + "], got " + to_string(type));
    return id;
  }

  /// Adds layer number `layer`, which reads `x`, and returns its output.
  ValueId add_layer(ValueId x, int layer) {
    const std::string number = "_l" + std::to_string(layer);
    if (layer > 0 && options_.dropout > 0)
      x = network_.node(graph::dropout, {x}, {{"p", options_.dropout}},
                        name_ + "/dropout_l" + std::to_string(layer - 1));
    const std::string output = layer == options_.layers - 1 ? name_ : name_ + "/output" + number;
    if (!options_.bidirectional) return add_direction(x, number, false, output);
    const Ids both{add_direction(x, number, false, name_ + "/forward" + number),
                   add_direction(x, number + "_reverse", true, name_ + "/backward" + number)};
    return network_.node(graph::concat, both, {{"axis", std::int64_t{2}}}, output);
  }

  /// Adds one direction of a layer, whose parameters and node have names that end in `suffix`, and
  /// returns its output, which is called `output`.
  ValueId add_direction(ValueId x, const std::string& suffix, bool reverse,
                        const std::string& output) {
    graph::Attributes attributes;
    Ids input{x, parameter("weight_ih" + suffix, {sums(), shape(x)[2]})};
    Ids hidden{parameter("weight_hh" + suffix, {sums(), options_.hidden_size})};
    if (options_.bias) {
      input.push_back(parameter("bias_ih" + suffix, {sums()}));
      hidden.push_back(parameter("bias_hh" + suffix, {sums()}));
      attributes.set("bias", std::int64_t{1});
    }
    hidden.insert(hidden.begin(),
                  network_.node(graph::linear, std::move(input), {}, name_ + "/gates" + suffix));
    add_states(hidden, attributes);
    if (reverse) attributes.set("reverse", std::int64_t{1});
    if (options_.nonlinearity == Nonlinearity::relu) attributes.set("nonlinearity", "relu");
    const ValueId y = network_.node(kind_.op, std::move(hidden), std::move(attributes), output);
    const Ids& outputs = network_.graph().nodes.back().outputs;
    hidden_.push_back(outputs[1]);
    if (kind_.has_cell) cell_.push_back(outputs[2]);
    return y;
  }

  /// Adds the initial states of the next direction and the lengths to the op's inputs, if there are
  /// any.
  void add_states(Ids& inputs, graph::Attributes& attributes) const {
    const auto number = std::ssize(hidden_);
    for (const ValueId states : {initial_hidden_, initial_cell_})
      if (states != graph::none) {
        inputs.push_back(state_at(states, number));
        attributes.set("initial", std::int64_t{1});
      }
    if (lengths_ == graph::none) return;
    inputs.push_back(lengths_);
    attributes.set("lengths", std::int64_t{1});
  }

  ValueId parameter(const std::string& suffix, const Shape& shape) const {
    const double bound = 1 / std::sqrt(static_cast<double>(options_.hidden_size));
    return network_.variable(name_ + "." + suffix, shape, Initializer::uniform(-bound, bound),
                             graph::ValueKind::parameter);
  }

  ValueId reshaped(ValueId x, std::vector<std::int64_t> shape, const std::string& name = "") const {
    return network_.node(graph::reshape, {x}, {{"shape", std::move(shape)}}, name);
  }

  /// Returns state number `number` of `states` [N,S,H] as [N,H].
  ValueId state_at(ValueId states, std::int64_t number) const {
    const ValueId one =
        network_.node(graph::slice, {states},
                      {{"axis", std::int64_t{1}}, {"begin", number}, {"end", number + 1}});
    return reshaped(one, {0, options_.hidden_size});
  }

  /// Returns the states [N,H] of all directions as one value [N,S,H].
  ValueId joined(const Ids& states, const std::string& suffix) const {
    const std::vector<std::int64_t> one{0, 1, options_.hidden_size};
    if (states.size() == 1) return reshaped(states[0], one, name_ + suffix);
    Ids parts;
    for (const ValueId state : states) parts.push_back(reshaped(state, one));
    return network_.node(graph::concat, std::move(parts), {{"axis", std::int64_t{1}}},
                         name_ + suffix);
  }

  ModelState& impl_;
  NetworkBuilder& network_;
  const RecurrentKind& kind_;
  const std::string& name_;
  const RecurrentOptions& options_;
  ValueId initial_hidden_ = graph::none, initial_cell_ = graph::none, lengths_ = graph::none;
  Ids hidden_, cell_;
};

Recurrent recurrent(ModelState& impl, const RecurrentKind& kind, const std::string& name,
                    const Value& x, const RecurrentOptions& options) {
  return RecurrentStack(impl, kind, name, options).over(x);
}

}  // namespace

Recurrent RecurrentLayers::lstm(const std::string& name, Value x, const RecurrentOptions& options) {
  return impl_->adding(graph::lstm.name, name, [&](Impl& impl) {
    return recurrent(impl, {graph::lstm, 4, true}, name, x, options);
  });
}

Recurrent RecurrentLayers::gru(const std::string& name, Value x, const RecurrentOptions& options) {
  return impl_->adding(graph::gru.name, name, [&](Impl& impl) {
    return recurrent(impl, {graph::gru, 3, false}, name, x, options);
  });
}

Recurrent RecurrentLayers::rnn(const std::string& name, Value x, const RecurrentOptions& options) {
  return impl_->adding(graph::rnn.name, name, [&](Impl& impl) {
    return recurrent(impl, {graph::rnn, 1, false}, name, x, options);
  });
}

}  // namespace penstock
