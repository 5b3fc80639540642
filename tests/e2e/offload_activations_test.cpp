// 4.3 and D10 of docs/reference.md: what a stage keeps of a micro-batch may be in the host store
// until its backward.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/e2e/offload_runs.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t updates = offload_updates;

Options with_activations(Options options, const Offload& offload = {.on = true}) {
  options.training.offload.activations = offload;
  return options;
}

std::int64_t shared(const StageReport& stage) {
  return stage.shared_bytes;
}

// In lanes of 16 samples, tensors of 1 kB and more have a multiple of 64 bytes, so that their
// places on the IPU have no padding.
TEST(OffloadOfActivations, LowersEachPeakByExactlyTheBytesThatMoveLessTheScratchForTheWork) {
  const TrainingRun kept = run_digits(four_stages());
  const TrainingRun moved =
      run_digits(with_activations(four_stages(), {.on = true, .minimum_bytes = 1024}));
  for (std::size_t i = 0; i < kept.stages.size(); ++i) {
    const StageReport &before = kept.stages[i], &after = moved.stages[i];
    EXPECT_EQ(before.activations.bytes, 0) << "stage " << i;
    EXPECT_EQ(before.peak_bytes - after.peak_bytes,
              after.activations.bytes - (shared(after) - shared(before)))
        << "stage " << i;
  }
  EXPECT_LT(peaks(moved), peaks(kept));
  EXPECT_EQ(first_difference(kept, moved), "");
}

// All four micro-batches of a window are in flight in the first stage. With offload, what waits for
// their backwards is off the IPU.
TEST(OffloadOfActivations, FreesAnIpuOfMostOfWhatWaits) {
  const auto waiting = [](const TrainingRun& run) {
    const StageReport& stage = run.stages[0];
    return stage.peak_bytes - stage.shared_bytes;
  };
  const auto run = [](const Offload& offload) {
    return run_digits(with_activations(four_stages(), offload), Sgd{});
  };
  EXPECT_GT(waiting(run({})), 4 * waiting(run({.on = true})));
}

TEST(OffloadOfActivations, StoresEveryByteOncePerMicroBatchInEachReplica) {
  for (const int replicas : {1, 2}) {
    Options options = with_activations(four_stages());
    options.topology.replication_factor = replicas;
    const TrainingRun moved = run_digits(options);
    ASSERT_EQ(moved.stages.size(), 4u * static_cast<std::size_t>(replicas));
    for (const StageReport& stage : moved.stages) {
      constexpr std::int64_t micro_batches = updates * offload_accumulation;
      // A stage has a slot for each micro-batch that may be in flight. The last stage has two more,
      // from which the host reads the outputs.
      const int slots =
          std::min(2 * (3 - stage.stage) + 1, offload_accumulation) + (stage.stage == 3 ? 2 : 0);
      const OffloadReport& activations = stage.activations;
      EXPECT_GT(activations.bytes, 0) << stage.stage;
      EXPECT_EQ(activations.stored_bytes, micro_batches * activations.bytes / slots) << stage.stage;
      EXPECT_EQ(activations.stores % micro_batches, 0u);
      EXPECT_EQ(activations.loads % micro_batches, 0u);
      EXPECT_GT(activations.loads, 0u) << stage.stage;
    }
  }
}

// The stages have 4, 4, 3 and 1 micro-batches in flight. The table has, for each minimum size of a
// tensor, the bytes of the activations that each stage keeps in the host store.
TEST(OffloadOfActivations, LeavesSmallTensorsWhereTheyAre) {
  using Bytes = std::vector<std::int64_t>;
  const std::pair<std::int64_t, Bytes> table[] = {
      {0, {661'504, 102'400, 82'944, 2'892}},
      {8, {661'504, 102'400, 82'944, 2'880}},
      {1'000, {661'504, 102'400, 82'944, 0}},
      {20'000, {661'504, 81'920, 0, 0}},
      {100'000, {0, 0, 0, 0}},
  };
  const TrainingRun kept = run_digits(four_stages());
  for (const auto& [minimum, expected] : table) {
    const TrainingRun moved =
        run_digits(with_activations(four_stages(), {.on = true, .minimum_bytes = minimum}));
    Bytes bytes;
    for (const StageReport& stage : moved.stages) bytes.push_back(stage.activations.bytes);
    EXPECT_EQ(bytes, expected) << minimum;
    EXPECT_EQ(first_difference(moved, kept), "") << minimum;
  }
}

// A plan counts the memory of a run to the byte. If a model is refused for lack of memory, the text
// names the class of tensors whose offload would make it fit.
TEST(OffloadOfActivations, MakesAPlanFitThatIsRefusedWithout) {
  const std::string text = refused_without(one_stage(), with_activations(one_stage()));
  EXPECT_NE(text.find("the activations in the host store (options.training.offload.activations), "
                      "which needs "),
            std::string::npos)
      << text;
}

// Neither the optimizer's state alone nor the activations alone would free enough memory.
TEST(OffloadOfActivations, IsOfferedTogetherWithOthersWhereOneIsNotEnough) {
  Options both = with_activations(one_stage());
  both.training.offload.optimizer_state.on = true;
  const std::int64_t peak = peaks(run_digits(both));
  Options kept = one_stage();
  kept.topology.ipu_memory_bytes = both.topology.ipu_memory_bytes = peak;
  EXPECT_EQ(refusal(Errc::out_of_memory, [&] { run_digits(both); }), "accepted");
  const std::string text = refusal(Errc::out_of_memory, [&] { run_digits(kept); });
  EXPECT_NE(text.find("the optimizer's state and the activations in the host store "
                      "(options.training.offload.optimizer_state, "
                      "options.training.offload.activations), which needs "),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("the activations in the host store (options.training.offload.activations)"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace penstock::testing
