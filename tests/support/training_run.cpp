#include "tests/support/training_run.hpp"

#include <algorithm>

#include "graph/values/memory.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {

std::vector<Tensor> all_samples(const Dataset& dataset) {
  std::vector<std::shared_ptr<std::byte>> blocks;
  std::vector<std::size_t> strides;
  for (const Field& field : dataset.fields()) {
    strides.push_back(static_cast<std::size_t>(field.shape.elements()) * size_of(field.dtype));
    blocks.push_back(allocate_block(strides.back() * static_cast<std::size_t>(dataset.size())));
  }
  std::vector<std::byte*> row(blocks.size());
  for (std::int64_t i = 0; i < dataset.size(); ++i) {
    for (std::size_t f = 0; f < row.size(); ++f)
      row[f] = blocks[f].get() + static_cast<std::size_t>(i) * strides[f];
    dataset.read({.index = i}, row);
  }
  std::vector<Tensor> tensors;
  for (std::size_t f = 0; f < row.size(); ++f) {
    const Field& field = dataset.fields()[f];
    std::vector<std::int64_t> dims{dataset.size()};
    dims.insert(dims.end(), field.shape.begin(), field.shape.end());
    tensors.push_back(Tensor::wrap(field.dtype, Shape(dims), blocks[f]));
  }
  return tensors;
}

TrainingRun train(const Model& model, Options options, const Optimizer& optimizer,
                  const std::vector<Tensor>& samples, std::int64_t updates) {
  options.output.mode = OutputMode::all;
  TrainingModel training(model, options, optimizer);
  const std::int64_t per_update = options.samples_per_step() / options.device_iterations;
  TrainingRun run;
  for (std::int64_t done = 0; done < updates;) {
    const std::int64_t now = std::min<std::int64_t>(options.device_iterations, updates - done);
    std::vector<Tensor> step;
    for (const Tensor& tensor : samples)
      step.push_back(tensor.rows(done * per_update, (done + now) * per_update));
    const StepResult result = training.step(step);
    const auto losses = result.loss.as<float>();
    run.losses.insert(run.losses.end(), losses.begin(), losses.end());
    done += now;
  }
  for (const ParameterInfo& parameter : model.parameters())
    run.weights[parameter.name] = model.weight(parameter.name);
  run.stages = training.stage_reports();
  run.state = training.optimizer_state();
  return run;
}

std::string first_difference(const TrainingRun& a, const TrainingRun& b) {
  if (a.weights.size() != b.weights.size()) return "the number of parameters";
  for (const auto& [name, tensor] : a.weights) {
    const Tensor& other = b.weights.at(name);
    if (!same_bits(tensor, other)) return name;
  }
  if (a.state.size() != b.state.size()) return "the number of the state's tensors";
  for (std::size_t i = 0; i < a.state.size(); ++i)
    if (a.state[i].name != b.state[i].name || !same_bits(a.state[i].tensor, b.state[i].tensor))
      return a.state[i].name;
  return a.losses == b.losses ? "" : "the losses";
}

}  // namespace penstock::testing
