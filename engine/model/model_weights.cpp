// These functions read, set, save and load the weights of a Model.
#include <string_view>
#include <utility>

#include "engine/files/weights_file.hpp"
#include "engine/model/initial_values.hpp"
#include "engine/model/loaded_weights.hpp"
#include "engine/model/matching_variables.hpp"
#include "engine/model/model_access.hpp"
#include "engine/model/model_state.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/output_file.hpp"
#include "penstock/training_model.hpp"

namespace penstock {
namespace {

void write_newest(ParameterStore& store, OutputFile& file) {
  WeightsFile weights;
  const std::vector<Tensor>& values = store.newest();
  const std::vector<ParameterInfo>& parameters = store.parameters();
  for (std::size_t i = 0; i < values.size(); ++i)
    weights.tensors.emplace(parameters[i].name, values[i]);
  write_weights(file, weights);
}

/// Loads what `options` say from the file at `path` into `impl`.
LoadedWeights load(ModelState& impl, const std::string& path, const LoadOptions& options) {
  WeightsChoice choice;
  const WeightsFile file =
      read_weights_file(path, "weights file", [&](const WeightsHeader& header) {
        choice =
            choose_weights(header, impl.weights.parameters(), impl.network.graph().name, options);
      });
  std::vector<Tensor> values(choice.tensors.size());
  if (!choice.names.left.empty()) values = impl.weights.newest();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!choice.tensors[i].empty()) values[i] = file.tensors.at(choice.tensors[i]);
  impl.weights.replace(std::move(values));
  return std::move(choice.names);
}

}  // namespace

Tensor Model::weight(const std::string& name) const {
  return impl_->calling("Model::weight", [&](Impl& impl) { return impl.weights.newest(name); });
}

void Model::set_weight(const std::string& name, const Tensor& value) {
  impl_->calling("Model::set_weight", [&](Impl& impl) { impl.weights.set(name, value); });
}

void Model::initialize(const std::string& pattern, const Initializer& initializer) {
  impl_->calling("Model::initialize", [&](Impl& impl) {
    const std::vector<ParameterInfo>& parameters = impl.weights.parameters();
    const graph::Graph& graph = impl.network.graph();
    const std::vector<std::size_t> chosen = matching_variables(
        graph, graph::ValueKind::parameter, pattern, "model " + quoted_text(graph.name));
    for (const std::size_t i : chosen)
      check_initializer(initializer, parameters[i].shape, parameters[i].name);
    std::vector<Tensor> values = impl.weights.newest();
    for (const std::size_t i : chosen)
      values[i] = initial_values(initializer, parameters[i].shape, impl.seed, parameters[i].name);
    impl.weights.replace(std::move(values));
  });
}

void ModelAccess::set_weights(const Model& model, std::string_view name,
                              const std::vector<NamedTensor>& weights) {
  model.impl_->calling(name, [&](ModelState& impl) {
    std::vector<Tensor> values = impl.weights.newest();
    for (const NamedTensor& weight : weights)
      values[impl.weights.position(weight.name)] = weight.tensor;
    impl.weights.replace(std::move(values));
  });
}

void Model::save_weights(const std::string& path) const {
  impl_->calling("Model::save_weights", [&](Impl& impl) {
    OutputFile file(path);
    write_newest(impl.weights, file);
    file.commit();
  });
}

void Model::save_weights(OutputFile& file) const {
  impl_->calling("Model::save_weights", [&](Impl& impl) { write_newest(impl.weights, file); });
}

LoadedWeights Model::load_weights(const std::string& path) {
  return impl_->calling("Model::load_weights",
                        [&](Impl& impl) { return load(impl, path, LoadOptions()); });
}

LoadedWeights Model::load_weights(const std::string& path, const LoadOptions& options) {
  return impl_->calling("Model::load_weights",
                        [&](Impl& impl) { return load(impl, path, options); });
}

}  // namespace penstock
