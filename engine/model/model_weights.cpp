// Model's weights: read, set, saved and loaded.
#include <utility>

#include "engine/files/weights_file.hpp"
#include "engine/model/model_state.hpp"
#include "penstock/error.hpp"
#include "penstock/output_file.hpp"

namespace penstock {
namespace {

std::string type_text(DType dtype, const Shape& shape) {
  return std::string(to_string(dtype)) + to_string(shape);
}

[[noreturn]] void refuse(const std::string& path, const std::string& tensor,
                         const std::string& text) {
  throw Error(Errc::shape_mismatch,
              "weights file \"" + path + "\": tensor \"" + tensor + "\": " + text);
}

/// The parameter's tensor, taken out of the file's.
Tensor take(std::map<std::string, Tensor>& tensors, const ParameterInfo& info,
            const std::string& path) {
  const std::string expected = "expected " + type_text(DType::f32, info.shape);
  auto found = tensors.extract(info.name);
  if (!found) refuse(path, info.name, expected + ", found none");
  Tensor tensor = std::move(found.mapped());
  if (tensor.dtype() != DType::f32 || tensor.shape() != info.shape)
    refuse(path, info.name, expected + ", got " + type_text(tensor.dtype(), tensor.shape()));
  return tensor;
}

}  // namespace

std::vector<ParameterInfo> Model::parameters() const {
  const ModelCall call(impl_->calls, "Model::parameters");
  return impl_->weights.parameters();
}

Tensor Model::weight(const std::string& name) const {
  const ModelCall call(impl_->calls, "Model::weight");
  return impl_->weights.newest(name);
}

void Model::set_weight(const std::string& name, const Tensor& value) {
  const ModelCall call(impl_->calls, "Model::set_weight");
  impl_->weights.set(name, value);
}

void Model::save_weights(const std::string& path) const {
  const ModelCall call(impl_->calls, "Model::save_weights");
  OutputFile file(path);
  save_weights(file);
  file.commit();
}

void Model::save_weights(OutputFile& file) const {
  const ModelCall call(impl_->calls, "Model::save_weights");
  WeightsFile weights;
  const std::vector<Tensor>& values = impl_->weights.newest();
  const std::vector<ParameterInfo>& parameters = impl_->weights.parameters();
  for (std::size_t i = 0; i < values.size(); ++i)
    weights.tensors.emplace(parameters[i].name, values[i]);
  write_weights(file, weights);
}

void Model::load_weights(const std::string& path) {
  const ModelCall call(impl_->calls, "Model::load_weights");
  WeightsFile file = read_weights_file(path);
  std::vector<Tensor> values;
  for (const ParameterInfo& info : impl_->weights.parameters())
    values.push_back(take(file.tensors, info, path));
  if (!file.tensors.empty())
    refuse(path, file.tensors.begin()->first, "is no parameter of model \"" + name() + "\"");
  impl_->weights.replace(std::move(values));
}

}  // namespace penstock
