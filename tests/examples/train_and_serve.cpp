// This program shows what a host application needs, in about forty lines: blocks, stages and their
// placement, arrays of its own, training, and inference on the same weights by another object.
#include <cmath>
#include <iostream>
#include <penstock/penstock.hpp>

using namespace penstock;

int main() {
  Model model("sine", 42);
  Value x = model.input("x", {1});
  const Value target = model.input("target", {1});
  for (const std::string name : {"A", "B", "C"}) {
    const auto block = model.block(name);
    x = model.tanh(model.linear(name, x, 32));
  }
  {
    const auto block = model.block("D");
    x = model.linear("D", x, 1);
    model.output("y", x);
    model.loss(model.mse_loss(x, target));
  }

  Options options{.batch_size = 32};
  options.topology.stages = {Stage{"A", "B"}.on(0), Stage{"C", "D"}.on(1)};
  options.topology.schedule = PipelineSchedule::interleaved;
  options.topology.replication_factor = 2;
  options.training.gradient_accumulation = 4;
  TrainingModel training(model, options, AdamW{.learning_rate = 3e-3});
  InferenceModel serving(model, {.batch_size = 1});

  std::vector<float> inputs(256), targets(256);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i] = (static_cast<float>(i * 37 % 256) / 128.0f - 1.0f) * 3.0f;
    targets[i] = std::sin(inputs[i]);
  }
  const std::vector<Tensor> samples{Tensor({256, 1}, inputs), Tensor({256, 1}, targets)};
  for (int step = 0; step < 400; ++step) training.step(samples);

  const float y = serving.run({Tensor({1, 1}, {1.5f})}).output("y").item();
  std::cout << "sin(1.5) is about " << y << '\n';
  return std::abs(y - std::sin(1.5f)) < 0.1f ? 0 : 1;
}
