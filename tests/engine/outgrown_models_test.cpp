// A Model may be changed while training and inference models of it are in use. These tests check
// that such models stay what they were made of, in calls of every size.
#include <gtest/gtest.h>

#include <vector>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t width = 4, full = 8;

struct Net {
  Model model{"net", 5};
  Value hidden{};
};

Net two_blocks() {
  Net net;
  Model& model = net.model;
  const Value x = model.input("x", {width}), labels = model.labels();
  model.begin_block("B1", 0);
  net.hidden = model.tanh(model.linear("fc1", x, 6));
  model.begin_block("B2", 1);
  const Value y = model.linear("fc2", net.hidden, width);
  model.output("y", y);
  model.loss(model.cross_entropy(y, labels));
  return net;
}

void grow(Net& net) {
  const Value mask = net.model.input("mask", {6});
  net.model.output("features", net.model.linear("fc3", net.model.mul(net.hidden, mask), 2));
}

void move_a_layer(Net& net) {
  LayerStages stages = net.model.stage_assignment();
  for (LayerStage& layer : stages) layer.stage = layer.layer == "fc1" ? 0 : 1;
  net.model.set_stage_assignment(stages);
}

void add_a_block(Net& net) {
  net.model.begin_block_at(net.model.stage_assignment()[1].layer, "B3", 2);
}

Options options() {
  Options options{.batch_size = 2, .device_iterations = 2};
  options.training.gradient_accumulation = 2;
  options.topology.ipus = {0, 1};
  options.output.mode = OutputMode::all;
  options.runtime.threads = 2;
  return options;
}

std::vector<Tensor> samples(std::int64_t count) {
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) labels.push_back(i % width);
  return {uniform({count, width}, 7), Tensor({count}, labels)};
}

struct Results {
  std::vector<Tensor> returned;
  std::vector<Tensor> weights;
};

/// Makes whole and short calls after `change` has changed the Model, and returns their results.
Results after(void (*change)(Net&)) {
  Net net = two_blocks();
  TrainingModel training(net.model, options(), AdamW{.learning_rate = 0.1});
  InferenceModel serving(net.model, options());
  change(net);
  Results results;
  const auto keep = [&](const StepResult& result) {
    EXPECT_EQ(result.outputs.size(), 1U);
    results.returned.push_back(result.output("y"));
  };
  for (const std::int64_t count : {full, full - 3, full - 7}) {
    keep(training.step(samples(count)));
    keep(serving.run({samples(4)[0]}));
    keep(serving.run({samples(3)[0]}));
  }
  training.set_optimizer(AdamW{.learning_rate = 0.2});
  training.detach();
  keep(training.step(samples(full - 1)));
  for (const char* name : {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"})
    results.weights.push_back(net.model.weight(name));
  return results;
}

void expect_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same_bits(a[i], b[i])) << i;
}

TEST(OutgrownModels, R2_6_StayAsTheyWereMadeInCallsOfEverySize) {
  const Results unchanged = after([](Net&) {});
  for (const auto change : {grow, move_a_layer, add_a_block}) {
    const Results results = after(change);
    expect_same(results.returned, unchanged.returned);
    expect_same(results.weights, unchanged.weights);
  }
}

}  // namespace
}  // namespace penstock::testing
