// ModelState holds the network and the weights of a Model, which is a handle. The handle's copies
// share the ModelState, and so do the models that run it. It is used inside a ModelCall, so that
// one thread at a time uses it. A call shares it, too, because functions of the host's that run
// inside the call, such as a log, may destroy the handle or assign to it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/log/log.hpp"
#include "engine/model/layer.hpp"
#include "engine/model/layer_errors.hpp"
#include "engine/model/model_calls.hpp"
#include "engine/model/network_builder.hpp"
#include "engine/model/parameter_store.hpp"
#include "graph/ir/op.hpp"
#include "graph/values/out_of_memory.hpp"
#include "penstock/model.hpp"

namespace penstock {

struct ModelState : std::enable_shared_from_this<ModelState> {
  ModelState(const std::string& name, std::uint64_t random_seed);
  /// Makes a ModelState. What it holds is never freed in a process that was forked from the one
  /// that made it.
  static std::shared_ptr<ModelState> make(const std::string& name, std::uint64_t random_seed);

  const std::uint64_t number;  ///< No other model of this process has this number.
  const std::uint64_t seed;
  ModelCalls calls;
  NetworkBuilder network;
  ParameterStore weights;

  /// Returns the model of `value`. @throws Error invalid_model, whose text begins with `subject`,
  /// if there is none, or none any more.
  static std::shared_ptr<ModelState> of(std::string_view subject, const Value& value);
  /// Returns the id of `value`. @throws Error invalid_model, whose text begins with `subject`, if
  /// `value` is not one of this model.
  graph::ValueId id(std::string_view subject, const Value& value) const;
  Value value(graph::ValueId id) { return {weak_from_this(), number, network.serial(id), id}; }

  /// Runs `action` as the model's call `name`, which is a literal, and returns its result. `action`
  /// is given this object, which the call keeps alive, because the handle may be of another model
  /// by then. Lines that models write to their logs when `action` asks them for weights are told
  /// when this call, and all calls of this model around it, are done.
  /// @throws Error busy and closed as ModelCall; out_of_memory, whose text begins with `name`; what
  /// `action` throws, or else the first exception of any log's function.
  auto calling(std::string_view name, const auto& action) {
    const std::shared_ptr<ModelState> kept = shared_from_this();
    return or_out_of_memory(name, [&] {
      const ModelCall call(kept->calls, name);
      return Log::after_all(kept->calls, [&] { return action(*kept); });
    });
  }

  /// Runs `action` as calling() does, for a call that adds a layer of the kind `layer`, a literal.
  /// `name` is the layer's name, if it has one. The text of an Error of `action` begins with both.
  auto adding(std::string_view layer, const std::string& name, const auto& action) {
    return calling(layer, [&](ModelState& kept) {
      try {
        return action(kept);
      } catch (const Error& error) {
        rethrow_of_layer(error, kept.network.graph().name, layer, name);
      }
    });
  }
  auto adding(std::string_view layer, const auto& action) { return adding(layer, {}, action); }

  /// Appends a node without parameters, as the call `layer` of the model. `attributes` returns the
  /// op's attributes.
  Value add(std::string_view layer, const graph::Op& op, std::initializer_list<Value> inputs,
            const auto& attributes) {
    return adding(layer, [&](ModelState& impl) { return impl.apply(op, inputs, attributes()); });
  }
  /// Does what the first add() does, as a call that has the name of the op.
  Value add(const graph::Op& op, std::initializer_list<Value> inputs, const auto& attributes) {
    return add(op.name, op, inputs, attributes);
  }
  /// Does what the first add() does for an op without attributes.
  Value add(std::string_view layer, const graph::Op& op, std::initializer_list<Value> inputs) {
    return add(layer, op, inputs, [] { return graph::Attributes(); });
  }
  Value add(const graph::Op& op, std::initializer_list<Value> inputs) {
    return add(op.name, op, inputs);
  }

  // The functions from apply() on are called inside a call of the model. If one of them throws, it
  // has changed neither the network nor the weights.

  /// Appends a node without parameters.
  Value apply(const graph::Op& op, const std::vector<Value>& inputs,
              graph::Attributes attributes = {}, const std::string& name = "");
  /// Begins a node with parameters. Refusals call `x` by the name `input`.
  Layer layer(const graph::Op& op, const std::string& name, Value x,
              const std::string& input = "x");
  /// A NewWeights has the parameters and buffers that the network has and `weights` has not yet,
  /// with their initial values.
  struct NewWeights {
    std::vector<ParameterInfo> parameters;
    std::vector<Tensor> values;
  };
  /// Returns the new weights, and makes room for them.
  NewWeights new_weights();
  /// Adds to `weights` what new_weights() has returned.
  void add_weights(NewWeights added) noexcept;
  /// Appends the node of `layer` and gives its parameters their initial values.
  Value finish(Layer& layer, graph::Attributes attributes = {}) {
    return finish(layer, std::move(attributes), [](const Value& result) { return result; });
  }
  /// Does what the other finish() does, and returns what `then` makes of the result by further
  /// nodes. The caller has a Draft that takes all of them back.
  Value finish(Layer& layer, graph::Attributes attributes, const auto& then) {
    // All that needs memory is done first, because nothing may fail once the weights are there.
    NewWeights added = new_weights();
    const Value result = then(value(layer.finish(std::move(attributes))));
    add_weights(std::move(added));
    return result;
  }
};

}  // namespace penstock
