// In these tests training models are made, moved, dropped, and used for long, without growing.

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "graph/values/memory.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock {
namespace {

constexpr int batch = 3;

Model regression() {
  Model model("regression");
  Value x = model.input("x", {5});
  const Value y = model.input("y", {2});
  for (const char* name : {"B1", "B2"}) {
    const auto block = model.block(name);
    x = model.linear(std::string("fc") + name, x, 2);
  }
  const auto block = model.block("B2");
  model.output("out", x);
  model.loss(model.mse_loss(x, y));
  return model;
}

Options options() {
  Options options{.batch_size = batch, .device_iterations = 2};
  options.training.gradient_accumulation = 4;
  options.topology.replication_factor = 2;
  options.output.mode = OutputMode::all;
  options.runtime.threads = 2;
  return options;
}

std::vector<Tensor> inputs() {
  const std::int64_t rows = options().samples_per_step();
  return {testing::uniform({rows, 5}, 1), testing::uniform({rows, 2}, 2)};
}

TEST(TrainingModel, AllocatesNoTensorMemoryInSteadyState) {
  TrainingModel training(regression(), options(), AdamW{});
  // Rows of a micro-batch begin anywhere in a cache line, so that the feed has to copy them.
  const auto tensors = inputs();
  for (int step = 1; step <= 2; ++step) training.step(tensors);
  const std::uint64_t blocks = memory_counters().blocks_allocated;
  for (int step = 3; step <= 20; ++step) {
    training.step(tensors);
    ASSERT_EQ(memory_counters().blocks_allocated, blocks) << "step " << step;
  }
}

TEST(TrainingModel, RefusesIpuNumbersThatReplicasWouldRaiseTooHigh) {
  Options high = options();
  high.topology.ipus = {65535, 0};
  EXPECT_EQ(testing::refusal(Errc::invalid_topology, [&] { TrainingModel(regression(), high); }),
            "options.topology.replication_factor: expected IPU numbers up to 65535 in every "
            "replica, but replica 1 of the stage on IPU 65535 would be on IPU 65537; place the "
            "stages on lower ones");
}

TEST(TrainingModel, D9_WarnsOfOptionsThatChangeNothing) {
  Options idle = options();
  const auto warnings = [&] {
    const auto training = TrainingModel(regression(), idle).compile_report().warnings;
    EXPECT_EQ(InferenceModel(regression(), idle).compile_report().warnings.size(), training.size());
    return training;
  };
  idle.topology.strategy = Strategy::sharded;
  EXPECT_EQ(warnings(), std::vector<std::string>{});
  idle.topology.schedule = PipelineSchedule::interleaved;
  idle.output.period = 2;
  EXPECT_EQ(warnings(),
            (std::vector<std::string>{
                "options.topology.schedule changes nothing with options.topology.strategy sharded",
                "options.output.period changes nothing: options.output.mode is all, not every_n"}));
}

TEST(TrainingModel, GoesOnWhereItIsMovedTo) {
  const std::size_t threads = testing::thread_count();
  {
    TrainingModel first(regression(), options(), AdamW{});
    first.step(inputs());
    TrainingModel second(std::move(first));
    second.step(inputs());
    TrainingModel third(regression(), options(), AdamW{});
    third = std::move(second);
    third.step(inputs());
    EXPECT_EQ(third.updates(), 6u);
  }
  EXPECT_TRUE(testing::threads_fall_to(threads));
}

TEST(TrainingModel, MayBeDroppedUnused) {
  const std::size_t threads = testing::thread_count();
  const std::uint64_t bytes = memory_counters().bytes_live;
  TrainingModel(regression(), options(), AdamW{});
  EXPECT_TRUE(testing::threads_fall_to(threads));
  EXPECT_EQ(memory_counters().bytes_live, bytes);
}

TEST(TrainingModel, GivesEachIpuItsThreads) {
  const std::size_t before = testing::thread_count();
  const auto threads_with = [&](int threads_per_ipu) {
    EXPECT_TRUE(testing::threads_fall_to(before));
    Options with = options();
    with.topology.threads_per_ipu = threads_per_ipu;
    TrainingModel training(regression(), with, AdamW{});
    EXPECT_EQ(training.compile_report().threads_per_ipu, threads_per_ipu);
    return testing::thread_count();
  };
  const std::size_t alone = threads_with(1);
  EXPECT_EQ(threads_with(3), alone + 2 * 4) << "two stages of two replicas, two helpers each";
}

TEST(TrainingModel, KeepsItsWeightsBeyondItsEnd) {
  const Model model = regression();
  const Tensor before = model.weight("fcB1.weight");
  std::optional<TrainingModel> training(std::in_place, model, options(), AdamW{});
  training->step(inputs());
  const Tensor while_it_lives = model.weight("fcB1.weight");
  training->step(inputs());
  training.reset();
  const Tensor after = model.weight("fcB1.weight");
  EXPECT_NE(before.as<float>()[0], while_it_lives.as<float>()[0]);
  EXPECT_NE(while_it_lives.as<float>()[0], after.as<float>()[0]);
}

TEST(InferenceModel, LeavesNoThreadOfThePlansThatItForgets) {
  InferenceModel inference(regression(), {.batch_size = 100});
  const auto run = [&](std::int64_t rows) { inference.run({testing::uniform({rows, 5}, 1)}); };
  // There are more sizes than plans that are kept.
  for (std::int64_t rows = 1; rows <= 10; ++rows) run(rows);
  const std::size_t threads = testing::thread_count();
  for (std::int64_t rows = 11; rows <= 60; ++rows) run(rows);
  EXPECT_TRUE(testing::threads_fall_to(threads))
      << threads << " before, " << testing::thread_count();
}

}  // namespace
}  // namespace penstock
