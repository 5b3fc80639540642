#include "benchmarks/runners/penstock_runner.hpp"

#include <numeric>
#include <span>

#include "apps/networks/networks.hpp"
#include "benchmarks/runners/lstm_network.hpp"
#include "penstock/penstock.hpp"

namespace penstock::benchmarks {
namespace {

Model build(const std::string& network) {
  return network == "lstm" ? lstm_network() : networks::find_network(network).build(0);
}

Optimizer optimizer_for(Rule rule) {
  if (rule == Rule::adamw) return AdamW{};
  return Sgd{.learning_rate = 0.001, .momentum = 0.9};
}

double mean(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TrainingModel training_model(const Task& task, const Setting& setting) {
  return {build(task.network), options_for(setting), optimizer_for(task.rule)};
}

Tensor tensor_of(const Samples& samples) {
  std::vector<std::int64_t> shape = samples.shape;
  shape.insert(shape.begin(), std::ssize(samples.labels));
  return Tensor(Shape(shape), samples.elements);
}

class TrainingRunner : public Runner {
 public:
  TrainingRunner(const Task& task, const Setting& setting, const Samples& samples)
      : model_(training_model(task, setting)),
        inputs_{tensor_of(samples),
                Tensor({static_cast<std::int64_t>(samples.labels.size())}, samples.labels)} {}

  void run() override { result_ = model_.step(inputs_); }
  double outcome() const override { return result_.mean_loss; }

 private:
  TrainingModel model_;
  std::vector<Tensor> inputs_;
  StepResult result_;
};

class InferenceRunner : public Runner {
 public:
  InferenceRunner(const Task& task, const Setting& setting, const Samples& samples)
      : model_(build(task.network), options_for(setting)), inputs_{tensor_of(samples)} {}

  void run() override { result_ = model_.run(inputs_); }
  double outcome() const override { return mean(result_.output("logits").as<float>()); }

 private:
  InferenceModel model_;
  std::vector<Tensor> inputs_;
  StepResult result_;
};

}  // namespace

Options options_for(const Setting& setting) {
  Options options{.batch_size = static_cast<int>(setting.cut.batch),
                  .device_iterations = static_cast<int>(setting.cut.iterations),
                  .topology = setting.topology};
  options.training.gradient_accumulation = static_cast<int>(setting.cut.accumulation);
  options.output.mode = OutputMode::all;
  return options;
}

std::unique_ptr<Runner> penstock_runner(const Task& task, const Setting& setting,
                                        const Samples& samples) {
  if (task.training) return std::make_unique<TrainingRunner>(task, setting, samples);
  return std::make_unique<InferenceRunner>(task, setting, samples);
}

Weights initial_weights(const std::string& network) {
  const Model model = build(network);
  Weights weights;
  for (const ParameterInfo& parameter : model.parameters()) {
    Weight& weight = weights[parameter.name];
    weight.shape.assign(parameter.shape.begin(), parameter.shape.end());
    const Tensor tensor = model.weight(parameter.name);
    const std::span<const float> values = tensor.as<float>();
    weight.values.assign(values.begin(), values.end());
  }
  return weights;
}

Samples noise(const Task& task, std::int64_t count) {
  const auto elements = static_cast<std::size_t>(count * Shape(task.sample).elements());
  Samples samples{.shape = task.sample,
                  .elements = std::vector<float>(elements),
                  .labels = std::vector<std::int64_t>(static_cast<std::size_t>(count))};
  std::uint32_t state = 1;
  for (float& element : samples.elements) {
    state = state * 1664525u + 1013904223u;
    element = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
  }
  for (std::size_t i = 0; i < samples.labels.size(); ++i)
    samples.labels[i] = static_cast<std::int64_t>(i % 10);
  return samples;
}

double compile_milliseconds(const Task& task, const Setting& setting) {
  return training_model(task, setting).compile_report().seconds * 1e3;
}

}  // namespace penstock::benchmarks
