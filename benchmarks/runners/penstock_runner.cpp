#include "benchmarks/runners/penstock_runner.hpp"

#include <numeric>
#include <span>

#include "benchmarks/runners/benchmark_networks.hpp"
#include "penstock/penstock.hpp"

namespace penstock::benchmarks {
namespace {

Optimizer optimizer_for(const Task& task) {
  if (task.rule == Rule::adamw) return AdamW{.learning_rate = task.learning_rate};
  return Sgd{.learning_rate = task.learning_rate, .momentum = 0.9};
}

double mean(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TrainingModel training_model(const Task& task, const Setting& setting) {
  return {build_network(task.network), options_for(setting), optimizer_for(task)};
}

/// Returns the first `count` fields of `samples` as tensors.
std::vector<Tensor> tensors_of(const Samples& samples, std::size_t count) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < count; ++i) {
    const Field& field = samples.fields[i];
    std::vector<std::int64_t> dims{samples.count};
    dims.insert(dims.end(), field.shape.begin(), field.shape.end());
    tensors.push_back(field.numbers.empty() ? Tensor(Shape(dims), field.values)
                                            : Tensor(Shape(dims), field.numbers));
  }
  return tensors;
}

class TrainingRunner : public Runner {
 public:
  TrainingRunner(const Task& task, const Setting& setting, const Samples& samples)
      : model_(training_model(task, setting)),
        inputs_(tensors_of(samples, samples.fields.size())) {}

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
      : model_(build_network(task.network), options_for(setting)),
        inputs_(tensors_of(samples, samples.fields.size() - 1)) {}

  void run() override { result_ = model_.run(inputs_); }
  double outcome() const override { return mean(result_.output("logits").as<float>()); }

 private:
  InferenceModel model_;
  std::vector<Tensor> inputs_;
  StepResult result_;
};

/// A DecodingRunner gives a text to a decoder, token by token.
class DecodingRunner : public Runner {
 public:
  DecodingRunner(const Task& task, const Setting& setting, const Samples& samples)
      : model_(build_network(task.network), options_of_one(setting)) {
    const Tensor tokens = tensors_of(samples, 1)[0];
    for (std::int64_t i = 0; i < samples.count; ++i) {
      const std::vector<std::int64_t> position{i};
      inputs_.push_back({tokens.rows(i, i + 1), Tensor({1}, position)});
    }
  }

  void run() override {
    sum_ = 0;
    for (const std::vector<Tensor>& input : inputs_)
      sum_ += mean(model_.run(input).output("logits").as<float>());
  }
  double outcome() const override { return sum_ / static_cast<double>(inputs_.size()); }

 private:
  static Options options_of_one(const Setting& setting) {
    Options options = options_for(setting);
    options.device_iterations = 1;
    return options;
  }

  InferenceModel model_;
  std::vector<std::vector<Tensor>> inputs_;
  double sum_ = 0;
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
  if (task.network == "gpt-decoder")
    return std::make_unique<DecodingRunner>(task, setting, samples);
  return std::make_unique<InferenceRunner>(task, setting, samples);
}

Weights initial_weights(const std::string& network) {
  const Model model = build_network(network);
  Weights weights;
  for (const ParameterInfo& parameter : model.parameters()) {
    Weight& weight = weights[parameter.name];
    weight.shape.assign(parameter.shape.begin(), parameter.shape.end());
    const Tensor tensor = model.weight(parameter.name);
    const std::span<const float> values = tensor.as<float>();
    weight.values.assign(values.begin(), values.end());
    weight.trainable = !parameter.buffer;
  }
  return weights;
}

Samples noise(const std::string& network, std::int64_t count) {
  Samples samples{.count = count};
  std::uint32_t state = 1;
  for (const InputSize& input : inputs_of(network)) {
    Field field{.shape = input.shape};
    std::int64_t elements = count;
    for (const std::int64_t dim : input.shape) elements *= dim;
    for (std::int64_t i = 0; i < elements; ++i) {
      state = state * 1664525u + 1013904223u;
      if (input.classes > 0)
        field.numbers.push_back(static_cast<std::int64_t>(state >> 8) % input.classes);
      else
        field.values.push_back(static_cast<float>(state >> 8) * 0x1p-23f - 1.0f);
    }
    samples.fields.push_back(std::move(field));
  }
  return samples;
}

double compile_milliseconds(const Task& task, const Setting& setting) {
  return training_model(task, setting).compile_report().seconds * 1e3;
}

}  // namespace penstock::benchmarks
