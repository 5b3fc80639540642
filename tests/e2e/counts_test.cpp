// 3.10 and E7 of docs/reference.md: these tests check how often the tutorials' recipes update, run
// forward and recompute, and how many bytes their stages exchange.
#include <gtest/gtest.h>

#include <map>

#include "apps/networks/networks.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

/// A Recipe has the settings of a tutorial, and how many updates the tutorial says that they make.
struct Recipe {
  const char* name;
  std::int64_t samples;
  int batch, accumulation, iterations, replicas, stages, epochs;
  std::uint64_t per_call, per_epoch, total;

  friend void PrintTo(const Recipe& recipe, std::ostream* stream) { *stream << recipe.name; }
};

const Recipe recipes[] = {
    {"residual network on two IPUs, twice", 50'000, 8, 3, 1, 2, 2, 5, 1, 1041, 5205},
    {"pipelined digits", 60'000, 40, 10, 10, 1, 4, 3, 10, 150, 450},
    {"Keras, pipelined: 500 steps", 16'000, 32, 4, 125, 1, 2, 4, 125, 125, 500},
    {"Keras, one IPU: 500 steps", 16'000, 32, 1, 500, 1, 1, 4, 500, 500, 2000},
    {"fashion", 60'000, 16, 1, 1, 1, 1, 5, 1, 3750, 18'750},
};

/// Returns a network that is so small that a whole tutorial's updates take no time. The backward of
/// each stage needs a value that the stage does not send, so that recomputation has work to do.
Model tiny_network(int stages) {
  Model model("tiny", 1);
  Value x = model.input("x", {1});
  for (int stage = 0; stage < stages; ++stage) {
    const auto block = model.block("B" + std::to_string(stage));
    x = model.scale(model.tanh(model.linear("fc" + std::to_string(stage), x, 1)), 0.5);
    if (stage + 1 == stages) model.loss(model.identity_loss(x));
  }
  return model;
}

Options options_of(const Recipe& recipe) {
  Options options{.batch_size = recipe.batch, .device_iterations = recipe.iterations};
  options.training.gradient_accumulation = recipe.accumulation;
  options.training.recompute = recipe.stages > 1;
  options.topology.replication_factor = recipe.replicas;
  return options;
}

class Recipes : public ::testing::TestWithParam<Recipe> {};

TEST_P(Recipes, R3_10_UpdateAndRunAsOftenAsTheTutorialsSay) {
  const Recipe& recipe = GetParam();
  const Options options = options_of(recipe);
  TrainingModel training(tiny_network(recipe.stages), options, Sgd{});
  const auto data = tensor_dataset(
      {Tensor({recipe.samples, 1}, std::vector<float>(static_cast<std::size_t>(recipe.samples)))});
  DataLoader loader(data, options);
  std::uint64_t calls = 0, after_first_epoch = 0;
  FitCallback count;
  count.on_step_end = [&](const StepRecord& record, const StepResult&) {
    EXPECT_EQ(record.updates, ++calls * recipe.per_call);
    return Next::go_on;
  };
  count.on_epoch_end = [&](const EpochRecord& record) {
    if (record.epoch == 1) after_first_epoch = record.updates;
    return Next::go_on;
  };
  const History history = fit(training, loader, {.epochs = recipe.epochs, .callbacks = {count}});
  EXPECT_EQ(after_first_epoch, recipe.per_epoch);
  EXPECT_EQ(history.updates, recipe.total);

  const std::uint64_t runs = calls * options.device_iterations * recipe.accumulation;
  const auto stages = training.stage_reports();
  ASSERT_EQ(stages.size(), static_cast<std::size_t>(recipe.stages * recipe.replicas));
  for (const StageReport& stage : stages) {
    EXPECT_EQ(stage.forward_runs, runs) << stage.stage;
    EXPECT_EQ(stage.backward_runs, runs) << stage.stage;
    EXPECT_EQ(stage.recomputed_runs, stage.stage < recipe.stages - 1 ? runs : 0) << stage.stage;
    EXPECT_EQ(stage.collectives.all_reduces, recipe.replicas > 1 ? 2 * recipe.total : 0)
        << "of a weight and a bias, update by update";
  }
}

INSTANTIATE_TEST_SUITE_P(All, Recipes, ::testing::ValuesIn(recipes),
                         [](const auto& test) { return std::to_string(test.index); });

/// Returns the bytes that pass each boundary between the stages of the tutorial's network for a
/// micro-batch of 40 samples, in f32: [40,10,12,12], [40,20,4,4] and [40,256]. The first two are in
/// the batch-lane layout, which pads 40 samples to `lanes`.
std::vector<std::int64_t> boundaries(std::int64_t lanes) {
  return {4 * lanes * 10 * 12 * 12, 4 * lanes * 20 * 4 * 4, 4 * 40 * 256};
}

/// A Boundary is the sending and the receiving stage; -1 is the host.
using Boundary = std::pair<int, int>;

TEST(Traffic, R3_10_OfAMicroBatchIsItsActivationsForwardAndTheirGradientsBack) {
  Options options{.batch_size = 40};
  options.training.gradient_accumulation = 10;
  const TrainingModel training(networks::find_network("mnist-cnn").build(1), options, AdamW{});
  const std::int64_t lanes = training.compile_report().lanes;
  EXPECT_GE(lanes, 40);
  EXPECT_LT(lanes, 40 + 16);
  const auto boundary = boundaries(lanes);
  std::map<Boundary, std::int64_t> bytes;
  for (const EdgePlanReport& edge : training.compile_report().edges) {
    bytes[{edge.from, edge.to}] += edge.bytes;
    EXPECT_EQ(edge.gradient, edge.from > edge.to) << edge.tensor;
  }
  const std::map<Boundary, std::int64_t> expected{
      {{-1, 0}, 4 * 40 * 28 * 28}, {{-1, 3}, 8 * 40},     {{0, 1}, boundary[0]},
      {{1, 0}, boundary[0]},       {{1, 2}, boundary[1]}, {{2, 1}, boundary[1]},
      {{2, 3}, boundary[2]},       {{3, 2}, boundary[2]},
  };
  EXPECT_EQ(bytes, expected);
}

TEST(Traffic, R3_10_OfATrainingIsThatOfItsMicroBatchesInEachReplica) {
  Options options{.batch_size = 40, .device_iterations = 2};
  options.training.gradient_accumulation = 3;
  options.topology.replication_factor = 2;
  const auto digits = all_samples(*synthetic_digits(options.samples_per_step(), 1, {}));
  const auto sent = [&](const Options& how) {
    std::vector<std::int64_t> bytes;
    for (const StageReport& stage :
         train(networks::find_network("mnist-cnn").build(1), how, Sgd{}, digits, 2).stages)
      bytes.push_back(stage.sent_bytes);
    return bytes;
  };
  const Model model = networks::find_network("mnist-cnn").build(1);
  const auto boundary = boundaries(TrainingModel(model, options).compile_report().lanes);
  const std::int64_t replica[] = {boundary[0], boundary[1] + boundary[0], boundary[2] + boundary[1],
                                  boundary[2]};
  std::vector<std::int64_t> expected;
  for (int r = 0; r < 2; ++r)
    for (const std::int64_t bytes : replica) expected.push_back(2 * 3 * bytes);
  EXPECT_EQ(sent(options), expected);
  options.training.recompute = true;
  EXPECT_EQ(sent(options), expected) << "what is recomputed is not sent again";
  options.topology.stages = parse_stages("B1,B2,B3,B4");
  options.training.recompute = false;
  EXPECT_EQ(sent(options), std::vector<std::int64_t>(2)) << "a single stage sends nothing";
}

}  // namespace
}  // namespace penstock::testing
