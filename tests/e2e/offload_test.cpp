// 4.3 and D10 of docs/reference.md: tensors in the host store are not on the IPUs, cost traffic,
// and change no bit.
#include <gtest/gtest.h>

#include "apps/networks/networks.hpp"
#include "tests/e2e/offload_runs.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t updates = offload_updates;
constexpr int accumulation = offload_accumulation;

Options with_state(Options options, const Offload& offload) {
  options.training.offload.optimizer_state = offload;
  return options;
}

// H6 of docs/reference.md: offload frees the 720,208 bytes of optimizer state that the tutorial
// promises.
TEST(OffloadOfOptimizerState, LowersThePeaksByExactlyTheBytesThatMove) {
  const TrainingRun kept = run_digits(four_stages());
  const TrainingRun moved = run_digits(with_state(four_stages(), {.on = true}));
  const auto on_ipus = [](const StageReport& stage) { return stage.optimizer_bytes_on_ipu; };
  const auto in_store = [](const StageReport& stage) { return stage.optimizer_state.bytes; };
  EXPECT_EQ(sum(kept, on_ipus), 720'208) << "two moments of 90,026 parameters";
  EXPECT_EQ(sum(kept, [](const StageReport& stage) { return stage.padding_bytes; }), 304)
      << "of five tensors that are no multiples of 64 bytes";
  EXPECT_EQ(sum(kept, in_store), 0);
  EXPECT_EQ(sum(moved, on_ipus), 0);
  EXPECT_EQ(sum(moved, [](const StageReport& stage) { return stage.padding_bytes; }), 0);
  EXPECT_EQ(sum(moved, in_store), 720'208);
  EXPECT_EQ(peaks(kept) - peaks(moved), 720'208);
  for (std::size_t i = 0; i < kept.stages.size(); ++i)
    EXPECT_EQ(kept.stages[i].peak_bytes - moved.stages[i].peak_bytes,
              moved.stages[i].optimizer_state.bytes)
        << "stage " << i;
  EXPECT_EQ(first_difference(kept, moved), "");
}

// H6 of docs/reference.md: updates take longer because the state is copied to the IPU and
// back.
TEST(OffloadOfOptimizerState, MovesEveryByteOnceEachWayPerUpdateInEachReplica) {
  Options options = with_state(four_stages(), {.on = true});
  options.topology.replication_factor = 2;
  const TrainingRun moved = run_digits(options);
  ASSERT_EQ(moved.stages.size(), 8u);
  for (const StageReport& stage : moved.stages) {
    const OffloadReport& state = stage.optimizer_state;
    EXPECT_EQ(state.loaded_bytes, updates * state.bytes) << stage.stage;
    EXPECT_EQ(state.stored_bytes, updates * state.bytes) << stage.stage;
    EXPECT_EQ(state.loads, state.stores) << stage.stage;
    EXPECT_EQ(state.loads > 0, state.bytes > 0) << stage.stage;
  }
}

TEST(OffloadOfOptimizerState, LeavesSmallTensorsWhereTheyAre) {
  const Model model = networks::find_network("mnist-cnn").build(3);
  for (const std::int64_t minimum : {0, 8, 40, 41, 201, 10'000, 1'000'000}) {
    std::int64_t small = 0, large = 0;
    for (const ParameterInfo& info : model.parameters()) {
      const std::int64_t bytes = info.shape.elements() * 4;
      (bytes < minimum ? small : large) += 2 * bytes;
    }
    const TrainingRun moved =
        run_digits(with_state(four_stages(), {.on = true, .minimum_bytes = minimum}));
    EXPECT_EQ(sum(moved, [](const StageReport& s) { return s.optimizer_bytes_on_ipu; }), small)
        << minimum;
    EXPECT_EQ(sum(moved, [](const StageReport& s) { return s.optimizer_state.bytes; }), large)
        << minimum;
    EXPECT_EQ(first_difference(moved, run_digits(four_stages())), "") << minimum;
  }
}

TEST(OffloadOfOptimizerState, HasNothingToMoveWhereARuleKeepsNothing) {
  const TrainingRun plain = run_digits(with_state(four_stages(), {.on = true}), Sgd{});
  EXPECT_EQ(plain.stages.size(), 4U);
  for (const StageReport& stage : plain.stages) {
    EXPECT_EQ(stage.optimizer_state.bytes, 0);
    EXPECT_EQ(stage.optimizer_state.loads, 0u);
  }
}

// A plan counts the memory of a run to the byte.
TEST(OffloadOfOptimizerState, MakesAPlanFitThatIsRefusedWithout) {
  const std::string text = refused_without(one_stage(), with_state(one_stage(), {.on = true}));
  EXPECT_NE(text.find("720.2 kB for the optimizer's state"), std::string::npos) << text;
  EXPECT_NE(text.find("what would help: the optimizer's state in the host store"),
            std::string::npos)
      << text;
}

Options with_accumulators(Options options, const Offload& offload) {
  options.training.offload.accumulators = offload;
  return options;
}

std::int64_t sums_in_store(const TrainingRun& run) {
  return sum(run, [](const StageReport& stage) { return stage.accumulators.bytes; });
}

// `places` has the bytes of each stage's gradient sums on the IPU, where their places are multiples
// of 64 bytes. With sums in the host store, the update of stage 2 needs 1,024 bytes more of
// scratch.
TEST(OffloadOfAccumulators, LowersThePeaksByTheBytesThatMove) {
  const std::int64_t places[] = {1'088, 20'160, 328'704, 10'304}, scratch[] = {0, 0, 1'024, 0};
  const TrainingRun kept = run_digits(four_stages());
  const TrainingRun moved = run_digits(with_accumulators(four_stages(), {.on = true}));
  EXPECT_EQ(sums_in_store(kept), 0);
  EXPECT_EQ(sums_in_store(moved), 4 * 90'026);
  ASSERT_EQ(moved.stages.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const StageReport &before = kept.stages[i], &after = moved.stages[i];
    EXPECT_EQ(after.shared_bytes - before.shared_bytes, scratch[i]) << "stage " << i;
    EXPECT_EQ(before.peak_bytes - after.peak_bytes, places[i] - scratch[i]) << "stage " << i;
  }
  EXPECT_EQ(first_difference(kept, moved), "");
}

// The replicas divide an update among themselves, so that each sum is loaded once for it.
TEST(OffloadOfAccumulators, LoadsEveryByteForEachMicroBatchAndUpdateAndStoresItAfterMicroBatches) {
  for (const double max_grad_norm : {0.0, 0.5}) {
    constexpr int replicas = 2;
    Options options = with_accumulators(four_stages(), {.on = true});
    options.topology.replication_factor = replicas;
    Optimizer optimizer = AdamW{};
    optimizer.max_grad_norm = max_grad_norm;
    const TrainingRun moved = run_digits(options, optimizer);
    ASSERT_EQ(moved.stages.size(), 8u);
    const int norms = max_grad_norm > 0 ? 1 : 0;
    for (int stage = 0; stage < 4; ++stage) {
      std::int64_t bytes = 0, loaded = 0, stored = 0;
      for (const StageReport& report : moved.stages)
        if (report.stage == stage) {
          bytes = report.accumulators.bytes;
          loaded += report.accumulators.loaded_bytes;
          stored += report.accumulators.stored_bytes;
        }
      EXPECT_EQ(loaded, updates * (replicas * accumulation + 1 + norms) * bytes);
      EXPECT_EQ(stored, updates * replicas * accumulation * bytes);
    }
  }
}

TEST(OffloadOfAccumulators, LeavesSmallTensorsWhereTheyAre) {
  const Model model = networks::find_network("mnist-cnn").build(3);
  for (const std::int64_t minimum : {0, 8, 41, 10'000, 1'000'000}) {
    std::int64_t large = 0;
    for (const ParameterInfo& info : model.parameters())
      if (info.shape.elements() * 4 >= minimum) large += info.shape.elements() * 4;
    const TrainingRun moved =
        run_digits(with_accumulators(four_stages(), {.on = true, .minimum_bytes = minimum}));
    EXPECT_EQ(sums_in_store(moved), large) << minimum;
    EXPECT_EQ(first_difference(moved, run_digits(four_stages())), "") << minimum;
  }
}

// A plan counts the memory of a run to the byte. If a model is refused for lack of memory, the text
// names the class of tensors whose offload would make it fit.
TEST(OffloadOfAccumulators, MakesAPlanFitThatIsRefusedWithout) {
  const std::string text =
      refused_without(one_stage(), with_accumulators(one_stage(), {.on = true}));
  EXPECT_NE(
      text.find("the gradient sums in the host store (options.training.offload.accumulators)"),
      std::string::npos)
      << text;
}

constexpr Offload on{.on = true};
constexpr OffloadOptions every_class{
    .optimizer_state = on, .accumulators = on, .activations = on, .weights = on};

TEST(Offload, ChangesNoBitInStagesThatTheCompilerCuts) {
  const TrainingRun reference = run_digits(four_stages());
  for (const int stages : {1, 2, 4}) {
    Options options = four_stages();
    options.training.offload = every_class;
    options.topology.automatic_stages = stages;
    EXPECT_EQ(first_difference(run_digits(options), reference), "") << stages;
  }
}

// The combinations are those of classes, strategies, replicas, recomputation, threads per IPU and
// cuts. Every nineteenth is tested: among these, each value of a setting meets each of another.
TEST(Offload, ChangesNoBitWhateverItIsCombinedWith) {
  const auto options = [](int replicas) {
    Options result = four_stages();
    result.topology.replication_factor = replicas;
    return result;
  };
  Optimizer clipped = Lamb{.learning_rate = 0.01};
  clipped.max_grad_norm = 0.5;
  for (const Optimizer& optimizer : {Optimizer(AdamW{.learning_rate = 0.01}), clipped})
    for (const int replicas : {1, 2}) {
      const TrainingRun reference = run_digits(options(replicas), optimizer);
      for (int kind = 0; kind < 3 * 2 * 2 * 2 * 2 * 2 * 2 * 2; kind += 19) {
        Options one = options(replicas);
        const int schedule = kind % 3, switches = kind / 3;
        one.topology.strategy = schedule == 2 ? Strategy::sharded : Strategy::pipelined;
        one.topology.schedule =
            schedule == 1 ? PipelineSchedule::interleaved : PipelineSchedule::grouped;
        one.training.offload.optimizer_state.on = switches & 1;
        one.training.offload.accumulators.on = switches & 2;
        one.training.offload.activations.on = switches & 4;
        one.training.offload.weights.on = switches & 8;
        one.training.recompute = switches & 16;
        one.topology.threads_per_ipu = switches & 32 ? 3 : 1;
        one.topology.stages = parse_stages(switches & 64 ? "B1,B2|B3,B4" : "B1|B2|B3|B4");
        ASSERT_EQ(first_difference(run_digits(one, optimizer), reference), "")
            << "combination " << kind << ", " << replicas << " replicas";
      }
    }
}

}  // namespace
}  // namespace penstock::testing
