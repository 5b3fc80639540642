#include "engine/onnx/import/unrolled_gru.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/linear.hpp"
#include "graph/ops/movement/concat.hpp"
#include "graph/ops/movement/slices.hpp"

namespace penstock {
namespace {

/// A step adds about fifteen nodes to the model. The second limit is for the layers of a file
/// together, and for both directions of each.
constexpr std::int64_t most_steps = 512, most_steps_in_all = 4096;

class GruSteps {
 public:
  GruSteps(NodeImport& n, const UnrolledGru& layer)
      : n_(n),
        layer_(layer),
        gate_weight_(part(layer.weight, 0, 0, 2)),
        candidate_weight_(part(layer.weight, 0, 2, 3)) {
    if (!layer.bias) return;
    gate_bias_ = part(layer.bias, 0, 0, 2);
    candidate_bias_ = part(layer.bias, 0, 2, 3);
  }

  RecurrentOutputs add() {
    std::vector<Value> states;
    Value h = layer_.initial;
    for (std::int64_t i = 0; i < layer_.steps; ++i) {
      h = state_after(layer_.reverse ? layer_.steps - 1 - i : i, h);
      states.push_back(n_.network.reshaped_value(h, {0, 1, layer_.hidden}));
    }
    if (layer_.reverse) std::ranges::reverse(states);
    return {states.size() == 1 ? states[0]
                               : n_.apply(graph::concat, states, {{"axis", std::int64_t{1}}}),
            h};
  }

 private:
  /// Returns the elements of the gates [begin, end) along an axis.
  Value part(const Value& x, std::int64_t axis, std::int64_t begin, std::int64_t end) const {
    return n_.apply(
        graph::slice, {x},
        {{"axis", axis}, {"begin", begin * layer_.hidden}, {"end", end * layer_.hidden}});
  }

  Value product(const Value& h, const Value& weight, const Value& bias) const {
    std::vector<Value> inputs{h, weight};
    if (bias) inputs.push_back(bias);
    return n_.apply(graph::linear, inputs);
  }

  Value sum(const Value& a, const Value& b) const { return n_.apply(graph::add, {a, b}); }

  /// Returns the hidden state after the step number `t`, before which it is `h`, or 0 if that is
  /// empty.
  Value state_after(std::int64_t t, const Value& h) const {
    const Value step = n_.apply(graph::slice, {layer_.gates},
                                {{"axis", std::int64_t{1}}, {"begin", t}, {"end", t + 1}});
    const Value inputs = n_.network.reshaped_value(step, {0, 3 * layer_.hidden});
    Value gates = part(inputs, 1, 0, 2), candidate = part(inputs, 1, 2, 3);
    if (h)
      gates = sum(gates, product(h, gate_weight_, gate_bias_));
    else if (gate_bias_)
      gates = sum(gates, gate_bias_);
    gates = n_.apply(graph::sigmoid, {gates});
    const Value reset = part(gates, 1, 0, 1), update = part(gates, 1, 1, 2);
    if (h)
      candidate = sum(
          candidate, product(n_.apply(graph::mul, {reset, h}), candidate_weight_, candidate_bias_));
    else if (candidate_bias_)
      candidate = sum(candidate, candidate_bias_);
    const Value share = n_.apply(graph::sub, {n_.network.number(1), update});
    const Value fresh = n_.apply(graph::mul, {share, n_.apply(graph::tanh, {candidate})});
    return h ? sum(fresh, n_.apply(graph::mul, {update, h})) : fresh;
  }

  NodeImport& n_;
  const UnrolledGru& layer_;
  Value gate_weight_, candidate_weight_, gate_bias_, candidate_bias_;
};

}  // namespace

RecurrentOutputs unrolled_gru(NodeImport& n, const UnrolledGru& layer) {
  n.expect_supported(layer.steps >= 1 && layer.steps <= most_steps,
                     "it has linear_before_reset = 0 over " + std::to_string(layer.steps) +
                         " steps, of which at most " + std::to_string(most_steps) +
                         " are written out");
  const std::int64_t steps = n.network.count_steps(layer.steps);
  n.expect_supported(steps <= most_steps_in_all,
                     "layers with linear_before_reset = 0 have more than " +
                         std::to_string(most_steps_in_all) +
                         " steps together, and no more are written out");
  return GruSteps(n, layer).add();
}

}  // namespace penstock
