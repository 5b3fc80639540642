// This program makes a model of a file in the ONNX format, computes its first output, and trains it
// for a few steps of SGD. tools/compare_onnx.py compares the results with PyTorch's.
//
//   onnx_steps MODEL DATA RESULT STAGES
//
// DATA is a safetensors file with an input `in.NAME` for each input of the model, and with
// `target`, i64 for cross_entropy() and f32 for mse_loss(). Its metadata has the number of samples
// of a step (`batch`) and the learning rate (`lr`). The samples of all steps stand one behind the
// other. RESULT gets the outputs for the first batch (`out`), the losses and the parameters after
// the last step.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "penstock/penstock.hpp"

namespace {

using penstock::NamedTensor;

/// Returns the rows of step number `step` of the tensors that the model wants.
std::vector<NamedTensor> batch_of(const penstock::TensorFile& data,
                                  const std::vector<std::string>& names, std::int64_t step,
                                  std::int64_t batch) {
  std::vector<NamedTensor> inputs;
  for (const std::string& name : names) {
    const penstock::Tensor& all = data.tensor(name == "target" ? name : "in." + name);
    inputs.push_back({name, all.rows(step * batch, (step + 1) * batch)});
  }
  return inputs;
}

/// Returns the name of the model's first output.
std::string first_output(const std::string& path) {
  return penstock::describe_onnx(path).outputs.front().name;
}

/// Adds the loss of an output and of an input "target" of the given type.
void add_loss(penstock::Model& model, const std::string& output, const penstock::Tensor& target) {
  const std::vector<std::int64_t> dims(target.shape().begin() + 1, target.shape().end());
  const penstock::Value wanted = model.input("target", penstock::Shape(dims), target.dtype());
  const penstock::Value scores = model.output(output);
  if (target.dtype() == penstock::DType::f32)
    model.loss(model.mse_loss(scores, wanted));
  else
    model.loss(model.cross_entropy(
        scores, wanted, {.class_axis = static_cast<int>(model.shape(scores).rank()) - 1}));
}

void run(const std::string& path, const std::string& data_path, const std::string& result_path,
         int stages) {
  const penstock::TensorFile data = penstock::load_safetensors(data_path);
  const std::int64_t batch = std::stoll(data.metadata.at("batch"));
  const penstock::Tensor target = data.tensor("target");
  const std::string output = first_output(path);
  penstock::Model model = penstock::Model::from_onnx(path);
  for (const penstock::ParameterInfo& parameter : model.parameters())
    if (parameter.buffer && parameter.frozen) model.unfreeze_statistics(parameter.name);
  add_loss(model, output, target);

  penstock::Options options{.batch_size = static_cast<int>(batch)};
  std::vector<NamedTensor> results;
  {
    penstock::InferenceModel inference(model, options, {output});
    const auto inputs = batch_of(data, inference.inputs(), 0, batch);
    results.push_back({"out", inference.run(inputs).output(output)});
  }
  options.topology.automatic_stages = stages > 1 ? stages : 0;
  penstock::TrainingModel training(
      model, options, penstock::Sgd{.learning_rate = std::stod(data.metadata.at("lr"))});
  std::vector<float> losses;
  for (std::int64_t step = 0; step < target.shape()[0] / batch; ++step)
    losses.push_back(static_cast<float>(
        training.step(batch_of(data, training.inputs(), step, batch)).mean_loss));
  results.push_back({"losses", penstock::Tensor(penstock::Shape({std::ssize(losses)}),
                                                std::span<const float>(losses))});
  for (const penstock::ParameterInfo& parameter : model.parameters())
    if (!parameter.buffer)
      results.push_back({"param." + parameter.name, model.weight(parameter.name)});
  penstock::save_safetensors(result_path, results);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "Usage: onnx_steps MODEL DATA RESULT STAGES\n";
    return 2;
  }
  try {
    run(argv[1], argv[2], argv[3], std::stoi(argv[4]));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "onnx_steps: " << error.what() << '\n';
    return 1;
  }
}
