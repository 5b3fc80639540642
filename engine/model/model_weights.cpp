// These functions read, set, save and load the weights of a Model.
#include <map>
#include <string_view>
#include <utility>

#include "engine/files/weights_file.hpp"
#include "engine/model/initial_values.hpp"
#include "engine/model/model_access.hpp"
#include "engine/model/model_state.hpp"
#include "engine/names/known_names.hpp"
#include "engine/names/name_pattern.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/output_file.hpp"
#include "penstock/training_model.hpp"

namespace penstock {
namespace {

std::string type_text(DType dtype, const Shape& shape) {
  return std::string(to_string(dtype)) + to_string(shape);
}

[[noreturn]] void refuse(const std::string& tensor, const std::string& text) {
  throw Error(Errc::shape_mismatch, "tensor " + tensor + ": " + text);
}

/// Checks that the header has exactly the model's parameters, with their types.
void check_fits(const WeightsHeader& header, const std::vector<ParameterInfo>& parameters,
                const std::string& model) {
  std::map<std::string_view, const WeightsEntry*> entries;
  for (const WeightsEntry& entry : header.entries) entries.emplace(entry.name, &entry);
  for (const ParameterInfo& info : parameters) {
    const std::string name = quoted_text(info.name);
    const std::string expected = "expected " + type_text(DType::f32, info.shape);
    const auto found = entries.find(info.name);
    if (found == entries.end()) refuse(name, expected + ", found none");
    const WeightsEntry& entry = *found->second;
    if (entry.dtype != DType::f32 || entry.shape != info.shape)
      refuse(name, expected + ", got " + type_text(entry.dtype, entry.shape));
    entries.erase(found);
  }
  if (!entries.empty())
    refuse(quoted_name(entries.begin()->first), "is no parameter of model " + quoted_text(model));
}

void write_newest(ParameterStore& store, OutputFile& file) {
  WeightsFile weights;
  const std::vector<Tensor>& values = store.newest();
  const std::vector<ParameterInfo>& parameters = store.parameters();
  for (std::size_t i = 0; i < values.size(); ++i)
    weights.tensors.emplace(parameters[i].name, values[i]);
  write_weights(file, weights);
}

}  // namespace

std::vector<ParameterInfo> Model::parameters() const {
  return impl_->calling("Model::parameters", [&](Impl& impl) { return impl.weights.parameters(); });
}

Tensor Model::weight(const std::string& name) const {
  return impl_->calling("Model::weight", [&](Impl& impl) { return impl.weights.newest(name); });
}

void Model::set_weight(const std::string& name, const Tensor& value) {
  impl_->calling("Model::set_weight", [&](Impl& impl) { impl.weights.set(name, value); });
}

void Model::initialize(const std::string& pattern, const Initializer& initializer) {
  impl_->calling("Model::initialize", [&](Impl& impl) {
    const std::vector<ParameterInfo>& parameters = impl.weights.parameters();
    std::vector<std::string_view> known;
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!parameters[i].trainable) continue;
      known.push_back(parameters[i].name);
      if (!matches(pattern, parameters[i].name)) continue;
      check_initializer(initializer, parameters[i].shape, parameters[i].name);
      chosen.push_back(i);
    }
    if (chosen.empty())
      throw Error(Errc::invalid_argument, "model " + quoted_text(impl.network.graph().name) +
                                              ": there is no parameter " + quoted_text(pattern) +
                                              instead_of(pattern, known));
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

void Model::load_weights(const std::string& path) {
  impl_->calling("Model::load_weights", [&](Impl& impl) {
    const std::vector<ParameterInfo>& parameters = impl.weights.parameters();
    const WeightsFile file =
        read_weights_file(path, "weights file", [&](const WeightsHeader& header) {
          check_fits(header, parameters, impl.network.graph().name);
        });
    std::vector<Tensor> values;
    for (const ParameterInfo& info : parameters) values.push_back(file.tensors.at(info.name));
    impl.weights.replace(std::move(values));
  });
}

}  // namespace penstock
