// 2.6 and 4.3 of docs/reference.md: plans for short calls are on the same IPUs as the plan for full
// calls, and within their memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

// A full call has `full` samples in micro-batches of 256, and a short call has `remainder` samples
// in one micro-batch.
constexpr std::int64_t full = 512, remainder = 128;

/// Returns a model whose memory is mostly activations, so that what the host keeps beside them is
/// small.
Model network() {
  Model model("wide", 5);
  Value x = model.input("x", {32});
  const Value labels = model.labels();
  for (const char* name : {"fc1", "fc2"}) x = model.tanh(model.linear(name, x, 32));
  x = model.linear("fc3", x, 4);
  model.output("y", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

std::vector<Tensor> samples(std::int64_t count) {
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) labels.push_back(i % 4);
  return {uniform({count, 32}, 1), Tensor({count}, labels)};
}

Options options_for(std::int64_t limit, int batch = 256) {
  Options options{.batch_size = batch, .device_iterations = 1};
  options.training.gradient_accumulation = batch == 256 ? 2 : 1;
  options.topology.ipu_memory_bytes = limit;
  return options;
}

template <class AModel>
std::int64_t peak(const AModel& model) {
  return model.stage_reports().at(0).peak_bytes;
}

struct Trained {
  std::vector<Tensor> weights;
  // This is the largest number of bytes that were alive at a time, without the samples.
  std::int64_t most_bytes = 0;
  // If this is true, the plan for full steps is attached after a short step.
  bool has_both_after_a_short = false;
};

Trained train(std::int64_t limit) {
  Trained result;
  const auto all = samples(full), few = samples(remainder);
  take_most_block_bytes();
  const std::int64_t before = take_most_block_bytes();
  const Model model = network();
  TrainingModel training(model, options_for(limit), AdamW{.learning_rate = 0.01});
  for (int round = 0; round < 2; ++round) {
    training.step(all);
    training.step(few);
    result.has_both_after_a_short = !training.stage_reports().empty();
  }
  EXPECT_EQ(training.updates(), 4u);
  EXPECT_TRUE(training.attached());
  training.detach();
  EXPECT_FALSE(training.attached());
  EXPECT_NE(refusal(Errc::invalid_argument, [&] { training.detach(); }), "accepted");
  training.step(all);
  result.most_bytes = take_most_block_bytes() - before;
  for (const ParameterInfo& info : model.parameters())
    result.weights.push_back(model.weight(info.name));
  return result;
}

void expect_same(const Trained& a, const Trained& b) {
  ASSERT_EQ(a.weights.size(), b.weights.size());
  for (std::size_t i = 0; i < a.weights.size(); ++i)
    EXPECT_TRUE(same_bits(a.weights[i], b.weights[i])) << i;
}

TEST(ShortStepMemory, R2_6_IsWithinTheLimitOfTheIpusAndChangesNoBit) {
  const std::int64_t of_full = peak(TrainingModel(network(), options_for(0), AdamW{}));
  const std::int64_t of_rest = peak(TrainingModel(network(), options_for(0, 128), AdamW{}));
  // Beside the plans, the host has less memory alive than half of the smaller plan.
  const Trained free = train(0), limited = train(of_full), roomy = train(of_full + of_rest);
  EXPECT_GT(free.most_bytes, of_full + of_rest);
  EXPECT_TRUE(free.has_both_after_a_short);
  EXPECT_LT(limited.most_bytes, of_full + of_rest / 2);
  EXPECT_FALSE(limited.has_both_after_a_short);
  EXPECT_GT(roomy.most_bytes, of_full + of_rest);
  EXPECT_TRUE(roomy.has_both_after_a_short);
  expect_same(limited, free);
  expect_same(roomy, free);
  EXPECT_FALSE(train(of_full + of_rest - 1).has_both_after_a_short) << "to the byte";
}

TEST(ShortStepMemory, R2_6_OfInferenceIsWithinTheLimitToo) {
  const Model model = network();
  InferenceModel free(model, options_for(0));
  InferenceModel limited(model, options_for(peak(free)));
  for (const std::int64_t count : {std::int64_t{256}, remainder, std::int64_t{256}}) {
    const Tensor x = samples(count)[0];
    EXPECT_TRUE(same_bits(limited.run({x}).output("y"), free.run({x}).output("y"))) << count;
    EXPECT_EQ(limited.stage_reports().empty(), count == remainder);
    EXPECT_FALSE(free.stage_reports().empty());
  }
  limited.detach();
  EXPECT_FALSE(limited.attached());
}

// The model goes on with the plans that it has used last.
TEST(ShortStepMemory, R2_6_OfAPlanThatLeavesIsFreeForTheOneThatComes) {
  constexpr std::int64_t shorter = 96;
  const std::int64_t of_full = peak(TrainingModel(network(), options_for(0), AdamW{}));
  const std::int64_t of_rest = peak(TrainingModel(network(), options_for(0, 128), AdamW{}));
  const auto all = samples(full), few = samples(remainder), fewer = samples(shorter);
  take_most_block_bytes();
  const std::int64_t before = take_most_block_bytes();
  TrainingModel training(network(), options_for(of_full + of_rest), AdamW{});
  for (const auto& step : {all, few, all, fewer, all, few, all}) {
    training.step(step);
    EXPECT_FALSE(training.stage_reports().empty()) << "the one for full steps has left";
  }
  EXPECT_LT(take_most_block_bytes() - before, of_full + of_rest + of_rest / 2);
}

TEST(ShortStepMemory, R2_6_OfSamplesForSomeReplicasIsThatOfMicroBatches) {
  Options options{.batch_size = 64, .device_iterations = 2};
  options.topology.replication_factor = 3;
  const Model model = network();
  InferenceModel free(model, options);
  options.topology.ipu_memory_bytes = peak(free);
  InferenceModel limited(model, options);
  const Tensor x = samples(6 * 64)[0];
  const Tensor whole = free.run({x}).output("y");
  for (const std::int64_t count : {3 * 64 + 65, 100, 128}) {
    const Tensor y = limited.run({x.rows(0, count)}).output("y");
    EXPECT_TRUE(same_bits(y, free.run({x.rows(0, count)}).output("y"))) << count;
    ASSERT_EQ(y.shape(), (Shape{count, 4}));
    for (std::size_t i = 0; i < y.as<float>().size(); ++i)
      ASSERT_NEAR(y.as<float>()[i], whole.as<float>()[i], 1e-6) << count;
  }
}

/// Trains on a whole step and a shorter one, and returns the weights.
std::vector<Tensor> trained(const Model& model, const Options& options, const Shape& sample,
                            std::int64_t shorter) {
  TrainingModel training(model, options, AdamW{.learning_rate = 0.01});
  const std::int64_t whole = options.samples_per_step();
  for (const std::int64_t count : {whole, shorter}) {
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < count; ++i) labels.push_back(i % 4);
    training.step({uniform(sample.with(0, count), 3), Tensor({count}, labels)});
  }
  EXPECT_EQ(training.updates(), 2u);
  std::vector<Tensor> weights;
  for (const ParameterInfo& info : model.parameters()) weights.push_back(model.weight(info.name));
  return weights;
}

/// Returns the bytes that the fullest IPU of a model uses.
std::int64_t fullest(const TrainingModel& training) {
  std::int64_t most = 0;
  for (const StageReport& stage : training.stage_reports()) most = std::max(most, stage.peak_bytes);
  return most;
}

/// Expects that a model with just enough memory for full calls trains on `shorter` samples with the
/// bits of a model without a limit. A model with micro-batches of `shorter` samples, in one
/// replica, would need more memory.
void expect_room(const auto& network, Options options, const Shape& sample, std::int64_t shorter) {
  const std::vector<Tensor> free = trained(network(), options, sample, shorter);
  const std::int64_t limit = fullest(TrainingModel(network(), options, AdamW{}));
  Options alone = options;
  alone.batch_size = static_cast<int>(shorter);
  alone.topology.replication_factor = 1;
  ASSERT_GT(fullest(TrainingModel(network(), alone, AdamW{})), limit);
  options.topology.ipu_memory_bytes = limit;
  const std::vector<Tensor> limited = trained(network(), options, sample, shorter);
  ASSERT_EQ(limited.size(), free.size());
  for (std::size_t i = 0; i < free.size(); ++i) EXPECT_TRUE(same_bits(limited[i], free[i])) << i;
}

Model images() {
  Model model("images", 5);
  Value x = model.input("x", {1, 20, 20});
  const Value labels = model.labels();
  x = model.relu(model.max_pool2d(model.conv2d("conv", x, {.out_channels = 8, .kernel = 3})));
  x = model.linear("fc", model.flatten(x), 4);
  model.output("y", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

// With 16 samples a vector is full, and convolution and pooling are fused. With 10 samples they are
// not.
TEST(ShortStepMemory, R2_6_IsWithinTheLimitWhereFewerSamplesAreLaidOutInAnotherWay) {
  expect_room(images, {.batch_size = 16}, {16, 1, 20, 20}, 10);
}

struct LogCounts {
  std::vector<std::string> lack;  // These are the lines of the log about plans that do not fit.
  int recomputing = 0;            // This many reports are of plans that recompute.
};

LogCounts log_of_training(Options options) {
  LogCounts log;
  options.topology.ipu_memory_bytes = fullest(TrainingModel(images(), options, AdamW{}));
  options.runtime.log_level = LogLevel::info;
  options.runtime.log = [&](std::string_view line) {
    if (line.find("does not fit") != line.npos) log.lack.emplace_back(line);
    if (line.find("of it recomputed") != line.npos) ++log.recomputing;
  };
  trained(images(), options, {16, 1, 20, 20}, 10);
  return log;
}

// A model of one stage recomputes nothing, whatever the host asks for.
TEST(ShortStepMemory, R2_6_IsToldToTheLogAsThePlanHasIt) {
  for (const bool recompute : {false, true}) {
    Options options{.batch_size = 16};
    options.training.recompute = recompute;
    const LogCounts log = log_of_training(options);
    EXPECT_EQ(log.lack, std::vector<std::string>{
                            "the plan for micro-batches of 10 samples does not fit into the "
                            "memory of the IPUs: it keeps more tensors in the host store, and is "
                            "slower"});
    EXPECT_EQ(log.recomputing, 0);
  }
}

// Each replica keeps its part of the optimizer's state. A shorter step runs on the first replica
// alone, which then has the whole state.
TEST(ShortStepMemory, R2_6_IsWithinTheLimitWhereReplicasDivideTheOptimizersState) {
  Options options{.batch_size = 4};
  options.topology.replication_factor = 4;
  options.training.sharding.optimizer_state = {.on = true, .minimum_elements = 2};
  expect_room(network, options, {16, 32}, 3);
}

}  // namespace
}  // namespace penstock::testing
