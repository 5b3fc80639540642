// This program tries the settings that trade time for the memory of the IPUs, as the documents show
// them. With each of them, a small network of four blocks is trained to the same bits as by the
// plain pipeline.
#include <cstring>
#include <iostream>
#include <penstock/penstock.hpp>

using namespace penstock;

namespace {

Model network() {
  Model model("network");
  Value x = model.input("x", {16});
  const Value labels = model.labels();
  for (const std::string name : {"B1", "B2", "B3"}) {
    const auto block = model.block(name);
    x = model.tanh(model.linear(name + ".fc", x, 64));
  }
  const auto block = model.block("B4");
  x = model.recomputation_checkpoint(x);  // The stage keeps this value in memory.
  model.loss(model.cross_entropy(model.linear("B4.fc", x, 10), labels));
  return model;
}

std::vector<Tensor> samples(std::int64_t count) {
  std::vector<float> inputs(static_cast<std::size_t>(count) * 16);
  std::vector<std::int64_t> labels(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    inputs[i] = static_cast<float>(i * 37 % 101) / 50.0f - 1.0f;
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(i * 7 % 10);
  return {Tensor({count, 16}, inputs), Tensor({count}, labels)};
}

Tensor trained_weight(TrainingModel& training, const Model& model) {
  const std::vector<Tensor> data = samples(training.options().samples_per_step());
  for (int step = 0; step < 3; ++step) training.step(data);
  return model.weight("B2.fc.weight");
}

Tensor trained(Options options) {
  const Model model = network();
  TrainingModel training(model, options, AdamW{});
  return trained_weight(training, model);
}

Tensor pipelined(Options options) {
  options.training.gradient_accumulation = 8;
  return trained(options);
}

Tensor phased() {
  const Model model = network();
  Options options{.batch_size = 16};
  options.training.gradient_accumulation = 8;
  options.topology.strategy = Strategy::serial_phased;
  options.topology.phased.phases = {Phase{{"B1"}}, Phase{{"B2"}, {"B3"}}, Phase{{"B4"}}};
  options.topology.phased.batch_serial = true;
  TrainingModel training(model, options, AdamW{});  // The four stages share IPUs 0 and 1.
  return trained_weight(training, model);
}

Tensor offloaded(Options options) {
  options.training.offload.optimizer_state.on = true;
  options.training.offload.optimizer_state.minimum_bytes = 4096;  // Smaller ones stay on the IPU.
  return pipelined(options);
}

Tensor recomputed(Options options) {
  options.training.recompute = true;           // Every stage but the last recomputes.
  options.training.recompute_stages = {0, 1};  // Only stages 0 and 1 recompute.
  return pipelined(options);
}

Tensor replicated(Options options) {
  options.topology.replication_factor = 4;
  return trained(options);
}

Tensor divided(Options options) {
  options.topology.replication_factor = 4;
  options.training.sharding.optimizer_state.on = true;
  options.training.sharding.optimizer_state.minimum_elements = 2048;  // Smaller tensors stay whole.
  return trained(options);
}

bool same(const char* name, const Tensor& weight, const Tensor& expected) {
  const bool equal = std::memcmp(weight.raw(), expected.raw(), expected.bytes()) == 0;
  std::cout << name << (equal ? ": the same bits\n" : ": other bits\n");
  return equal;
}

}  // namespace

int main() {
  const Options options{.batch_size = 16};
  const Tensor expected = pipelined(options);
  bool equal = same("phases", phased(), expected);
  equal &= same("offload", offloaded(options), expected);
  equal &= same("recomputation", recomputed(options), expected);
  equal &= same("sharding", divided(options), replicated(options));
  return equal ? 0 : 1;
}
