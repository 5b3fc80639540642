#include "penstock/model.hpp"

#include <algorithm>
#include <atomic>

#include "engine/model/initial_values.hpp"
#include "engine/model/model_access.hpp"
#include "engine/model/model_state.hpp"
#include "engine/names/known_names.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> numbers{0};
  return ++numbers;
}

}  // namespace

struct BlockScope::State {
  std::shared_ptr<ModelCalls> calls;
  std::shared_ptr<NetworkBuilder> network;
  int scope = 0;
};

BlockScope::~BlockScope() {
  const ModelEnd end(state_->calls);
  if (end.may_free()) state_->network->close_block(state_->scope);
}

ModelState::ModelState(const std::string& name, std::uint64_t random_seed)
    : number(next_number()), seed(random_seed), calls(name), network(name), weights(name) {}

std::shared_ptr<ModelState> ModelState::make(const std::string& name, std::uint64_t random_seed) {
  return {new ModelState(name, random_seed), [](ModelState* impl) {
            if (impl->calls.in_own_process()) delete impl;
          }};
}

std::shared_ptr<ModelState> ModelState::of(std::string_view subject, const Value& value) {
  std::shared_ptr<ModelState> state = value.state_.lock();
  if (state != nullptr) return state;
  throw Error(Errc::invalid_model, std::string(subject) +
                                       ": expected a value of a model, got one " +
                                       (value.model_ == 0 ? "of no model" : "whose model is gone"));
}

graph::ValueId ModelState::id(std::string_view subject, const Value& value) const {
  const bool here = value.model_ == number;
  if (here && network.has(value.id_, value.serial_)) return value.id_;
  const std::string got = here                ? "one of a layer that was taken back"
                          : value.model_ == 0 ? "one of no model"
                                              : "one of another model";
  throw Error(Errc::invalid_model, std::string(subject) + ": expected a value of model " +
                                       quoted_text(network.graph().name) + ", got " + got);
}

Value ModelState::apply(const graph::Op& op, const std::vector<Value>& inputs,
                        graph::Attributes attributes, const std::string& name) {
  std::vector<graph::ValueId> ids;
  ids.reserve(inputs.size());
  for (const Value& input : inputs) ids.push_back(id(op.name, input));
  return value(network.node(op, std::move(ids), std::move(attributes), name));
}

Layer ModelState::layer(const graph::Op& op, const std::string& name, Value x,
                        const std::string& input) {
  return {network, op, name, id(std::string(op.name) + " " + quoted_text(name), x), input};
}

ModelState::NewWeights ModelState::new_weights() {
  const graph::Graph& graph = network.graph();
  NewWeights added;
  for (std::size_t i = weights.parameters().size(); i < graph.variables.size(); ++i) {
    const graph::Variable& variable = graph.variables[i];
    const graph::Value& entry = graph.value(variable.value);
    added.parameters.push_back({.name = entry.name,
                                .shape = entry.type.shape,
                                .trainable = entry.kind == graph::ValueKind::parameter,
                                .buffer = entry.kind == graph::ValueKind::buffer});
    added.values.push_back(
        initial_values(variable.initializer, entry.type.shape, seed, entry.name));
  }
  weights.reserve(added.parameters.size());
  return added;
}

void ModelState::add_weights(NewWeights added) noexcept {
  for (std::size_t i = 0; i < added.parameters.size(); ++i)
    weights.add(std::move(added.parameters[i]), std::move(added.values[i]));
}

const graph::Graph& ModelAccess::graph(const Model& model) {
  return model.impl_->network.graph();
}

std::shared_ptr<ModelState> ModelAccess::state(const Model& model) {
  return model.impl_;
}

std::string ModelAccess::unused_variable_name(const Model& model, const std::string& wanted) {
  return model.impl_->network.unused_variable_name(wanted);
}

void ModelAccess::expect_value(std::string_view subject, const Model& model, Value value) {
  model.impl_->id(subject, value);
}

void ModelAccess::expect_shares_used(const Model& model) {
  model.impl_->network.expect_shares_used();
}

void ModelAccess::add(const Model& model, const std::function<void()>& change) {
  const std::shared_ptr<ModelState> impl = model.impl_;
  NetworkBuilder::State before = impl->network.state();
  ModelCalls::Growing growing(impl->calls);
  try {
    change();
  } catch (...) {
    impl->network.restore(std::move(before));
    impl->weights.keep(before.variables);
    growing.take_back();
    throw;
  }
}

std::shared_ptr<ParameterStore> ModelAccess::weights(const Model& model) {
  return {model.impl_, &model.impl_->weights};
}

std::shared_ptr<ModelCalls> ModelAccess::calls(const Model& model) {
  return {model.impl_, &model.impl_->calls};
}

Model::Model(std::string name, std::uint64_t seed) {
  impl_ = or_out_of_memory("the constructor of a Model", [&] { return Impl::make(name, seed); });
}

Model Model::clone() const {
  return impl_->calling("Model::clone", [&](Impl& impl) {
    impl.calls.expect_grown("Model::clone");
    Model result(impl.network.graph().name, impl.seed);
    const std::vector<Tensor>& values = impl.weights.newest();
    result.impl_->network = impl.network.copy();
    for (std::size_t i = 0; i < values.size(); ++i)
      result.impl_->weights.add(impl.weights.parameters()[i], values[i]);
    return result;
  });
}

const std::string& Model::name() const noexcept {
  return impl_->network.graph().name;
}

Value Model::input(const std::string& name, const Shape& sample, DType dtype) {
  return impl_->calling("Model::input", [&](Impl& impl) {
    return impl.value(impl.network.input(name, sample, dtype));
  });
}

void Model::dynamic_axis(Value input, int axis, std::int64_t shortest) {
  impl_->calling("Model::dynamic_axis", [&](Impl& impl) {
    impl.network.dynamic_axis(impl.id("dynamic_axis", input), axis, shortest);
  });
}

/// Returns the scope of the block or stage that `open` opens, inside the model's call `call_name`.
/// `open` is no std::function, because one would ask for memory before or_out_of_memory() begins.
template <class Open>
BlockScope Model::opened(std::string_view call_name, const Open& open) const {
  const std::shared_ptr<Impl> kept = impl_;
  return or_out_of_memory(call_name, [&] {
    // Everything that may fail comes before the scope is opened, because nothing would close the
    // scope after a failure.
    auto state = std::make_shared<BlockScope::State>();
    state->calls = {kept, &kept->calls};
    state->network = {kept, &kept->network};
    // A call cannot return a BlockScope, which cannot be moved; it returns the scope's number.
    state->scope = kept->calling(call_name, open);
    return BlockScope(std::move(state));
  });
}

BlockScope Model::block(const std::string& name, int ipu) {
  return opened("Model::block", [&](Impl& impl) { return impl.network.open_block(name, ipu); });
}

BlockScope Model::block() {
  return opened("Model::block", [&](Impl& impl) { return impl.network.open_numbered_block(); });
}

BlockScope Model::pipeline_stage(int number) {
  return opened("Model::pipeline_stage",
                [&](Impl& impl) { return impl.network.open_stage(number); });
}

void Model::begin_block(const std::string& name, int ipu) {
  impl_->calling("Model::begin_block", [&](Impl& impl) { impl.network.begin_block(name, ipu); });
}

void Model::begin_block_at(const std::string& layer, const std::string& name, int ipu) {
  impl_->calling("Model::begin_block_at",
                 [&](Impl& impl) { impl.network.begin_block_at(layer, name, ipu); });
}

void Model::remove_block_marks() {
  impl_->calling("Model::remove_block_marks", [&](Impl& impl) { impl.network.remove_marks(); });
}

void Model::output(const std::string& name, Value value) {
  impl_->calling("Model::output", [&](Impl& impl) {
    impl.network.output(name, impl.id("output " + quoted_text(name), value));
  });
}

Value Model::output(const std::string& name) const {
  return impl_->calling("Model::output", [&](Impl& impl) {
    const auto& outputs = impl.network.graph().outputs;
    const auto found = std::ranges::find(outputs, name, &graph::Output::name);
    if (found != outputs.end()) return impl.value(found->value);
    throw Error(Errc::invalid_argument, "model " + quoted_text(this->name()) +
                                            ": there is no output " + quoted_text(name) +
                                            instead_of(name, outputs, &graph::Output::name));
  });
}

Value Model::recomputation_checkpoint(Value x) {
  return impl_->calling("Model::recomputation_checkpoint", [&](Impl& impl) {
    impl.network.checkpoint(impl.id("recomputation_checkpoint", x));
    return x;
  });
}

void Model::loss(Value value) {
  impl_->calling("Model::loss", [&](Impl& impl) { impl.network.loss(impl.id("loss", value)); });
}

std::string Model::tensor_name(Value value) const {
  return impl_->calling("Model::tensor_name", [&](Impl& impl) {
    return impl.network.graph().value(impl.id("tensor_name", value)).name;
  });
}

Shape Model::shape(Value value) const {
  return impl_->calling("Model::shape", [&](Impl& impl) {
    return impl.network.graph().type(impl.id("shape", value)).shape;
  });
}

}  // namespace penstock
