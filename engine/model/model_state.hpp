// What a Model handle stands for: its network and its weights. Shared by the handle's copies and by
// the models that run it; used inside a ModelCall, and so from one thread at a time. A call that
// fetches weights shares it too, for the log that it tells may destroy the handle.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/layer.hpp"
#include "engine/model/model_calls.hpp"
#include "engine/model/network_builder.hpp"
#include "engine/model/parameter_store.hpp"
#include "penstock/model.hpp"

namespace penstock {

struct Model::Impl {
  Impl(const std::string& name, std::uint64_t random_seed);
  /// What it holds is never freed in a process that was forked from the one that made it.
  static std::shared_ptr<Impl> make(const std::string& name, std::uint64_t random_seed);

  const std::uint64_t number;  ///< unlike any other model's of this process
  const std::uint64_t seed;
  ModelCalls calls;
  NetworkBuilder network;
  ParameterStore weights;

  /// @throws Error invalid_model, opening with `who`, if `value` is not one of this model.
  graph::ValueId id(std::string_view who, Value value) const;
  Value value(graph::ValueId id) const { return {number, id}; }

  /// Appends a node without parameters.
  Value apply(const graph::Op& op, const std::vector<Value>& inputs,
              graph::Attributes attributes = {}, const std::string& name = "");
  /// Begins a node with parameters.
  Layer layer(const graph::Op& op, const std::string& name, Value x);
  /// Appends the node and gives its parameters their first values.
  Value finish(Layer& layer, graph::Attributes attributes = {});
};

}  // namespace penstock
