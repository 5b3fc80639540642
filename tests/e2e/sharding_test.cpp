// 4.4 of docs/reference.md: replicas divide the optimizer's state of large tensors. This changes
// memory and traffic, but no bit of a training.
#include <gtest/gtest.h>

#include <algorithm>

#include "apps/networks/networks.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t updates = 3;
constexpr int batch = 4, accumulation = 2, most_replicas = 4;

const std::vector<Tensor>& digits() {
  static const std::vector<Tensor> samples = all_samples(
      *first_samples(read_idx(data_path("mnist"), Split::train, {.mean = 0.1307, .std = 0.3081}),
                     batch * accumulation * most_replicas * 2 * updates));
  return samples;
}

Options replicated(int replicas) {
  Options options{.batch_size = batch, .device_iterations = 1};
  options.training.gradient_accumulation = accumulation;
  options.topology.replication_factor = replicas;
  // With one thread, a plan's scratch is the same on every machine.
  options.topology.threads_per_ipu = 1;
  return options;
}

Options divided(Options options, std::int64_t minimum = 8192) {
  options.training.sharding.optimizer_state = {.on = true, .minimum_elements = minimum};
  return options;
}

Model network() {
  return networks::find_network("mnist-cnn").build(3);
}

TrainingRun run(const Options& options, const Optimizer& optimizer = AdamW{.learning_rate = 0.01}) {
  return train(network(), options, optimizer, digits(), updates);
}

std::int64_t shard(std::int64_t elements, int replicas) {
  return (elements + replicas - 1) / replicas;
}

struct Sizes {
  /// A replica's two state tensors per parameter have this many bytes in all.
  std::int64_t state = 0;
  std::int64_t divided = 0;  ///< The parameters that are divided have this many elements in all.
  std::int64_t whole = 0;
  std::uint64_t divided_tensors = 0;
  std::uint64_t whole_tensors = 0;
};

Sizes sizes(int replicas, std::int64_t minimum) {
  Sizes result;
  for (const ParameterInfo& info : network().parameters()) {
    const std::int64_t elements = info.shape.elements();
    const bool is_divided = replicas > 1 && elements >= minimum;
    result.state += 2 * 4 * (is_divided ? shard(elements, replicas) : elements);
    (is_divided ? result.divided : result.whole) += elements;
    ++(is_divided ? result.divided_tensors : result.whole_tensors);
  }
  return result;
}

std::int64_t sum(const TrainingRun& run, int replica, std::int64_t (*of)(const StageReport&)) {
  std::int64_t total = 0;
  for (const StageReport& stage : run.stages)
    if (stage.replica == replica) total += of(stage);
  return total;
}

std::int64_t on_ipus(const StageReport& stage) {
  return stage.optimizer_bytes_on_ipu;
}
std::int64_t in_store(const StageReport& stage) {
  return stage.optimizer_state.bytes;
}
std::int64_t peak(const StageReport& stage) {
  return stage.peak_bytes;
}

// The first minimum number of elements is the default. With the other minimums, replicas divide
// small tensors, too, most of them into shards of different sizes.
TEST(ShardedState, OfEachReplicaHasCeilOfNByRElements) {
  for (const int replicas : {2, 3, 4}) {
    const TrainingRun whole = run(replicated(replicas));
    for (const std::int64_t minimum : {std::int64_t{8192}, std::int64_t{200}, std::int64_t{2}}) {
      const TrainingRun shards = run(divided(replicated(replicas), minimum));
      const std::int64_t expected = sizes(replicas, minimum).state;
      for (int replica = 0; replica < replicas; ++replica) {
        EXPECT_EQ(sum(whole, replica, on_ipus), 720'208);
        EXPECT_EQ(sum(shards, replica, on_ipus), expected) << replicas << ", " << minimum;
        EXPECT_EQ(sum(whole, replica, peak) - sum(shards, replica, peak), 720'208 - expected)
            << replicas << ", " << minimum;
      }
      EXPECT_EQ(first_difference(shards, whole), "") << replicas << ", " << minimum;
    }
  }
}

TEST(ShardedState, LeavesTensorsBelowTheMinimumWhole) {
  std::int64_t largest = 0;
  for (const ParameterInfo& info : network().parameters())
    largest = std::max(largest, info.shape.elements());
  EXPECT_EQ(sum(run(divided(replicated(2), largest + 1)), 0, on_ipus), 720'208);
  EXPECT_EQ(sum(run(divided(replicated(2), largest)), 0, on_ipus),
            720'208 - 2 * 4 * (largest - shard(largest, 2)));
}

// The replicas keep the state of the other tensors together, too.
TEST(ShardedState, InTheHostStoreIsTheShardOnly) {
  for (const int replicas : {2, 3}) {
    Options options = divided(replicated(replicas), 200);
    options.training.offload.optimizer_state.on = true;
    const TrainingRun moved = run(options);
    std::int64_t kept = 0;
    for (int replica = 0; replica < replicas; ++replica) {
      EXPECT_EQ(sum(moved, replica, on_ipus), 0);
      kept += sum(moved, replica, in_store);
    }
    const Sizes of = sizes(replicas, 200);
    const std::int64_t whole = 2 * 4 * of.whole;
    EXPECT_EQ(kept, replicas * (of.state - whole) + whole);
    EXPECT_EQ(first_difference(moved, run(replicated(replicas))), "");
  }
}

// An all-reduce moves as many bytes as a reduce-scatter and an all-gather, so sharding moves as
// many bytes as whole state.
TEST(ShardedState, ExchangesAsManyBytesAsWholeState) {
  for (const int replicas : {2, 3, 4}) {
    const auto total = [&](const TrainingRun& of) {
      CollectiveReport all;
      for (const StageReport& stage : of.stages) {
        const CollectiveReport& one = stage.collectives;
        all.all_reduces += one.all_reduces;
        all.reduce_scatters += one.reduce_scatters;
        all.all_gathers += one.all_gathers;
        all.all_reduced_bytes += one.all_reduced_bytes;
        all.scattered_bytes += one.scattered_bytes;
        all.gathered_bytes += one.gathered_bytes;
      }
      return all;
    };
    const Sizes expected = sizes(replicas, 200);
    const CollectiveReport whole = total(run(replicated(replicas)));
    const CollectiveReport shards = total(run(divided(replicated(replicas), 200)));
    const auto times = updates * static_cast<std::uint64_t>(replicas);
    EXPECT_EQ(whole.all_reduces, times * (expected.divided_tensors + expected.whole_tensors));
    EXPECT_EQ(whole.reduce_scatters + whole.all_gathers, 0u);
    EXPECT_EQ(shards.all_reduces, times * expected.whole_tensors);
    EXPECT_EQ(shards.reduce_scatters, times * expected.divided_tensors);
    EXPECT_EQ(shards.all_gathers, times * expected.divided_tensors);
    EXPECT_EQ(shards.scattered_bytes, updates * (replicas - 1) * 4 * expected.divided);
    EXPECT_EQ(shards.gathered_bytes, shards.scattered_bytes);
    EXPECT_EQ(shards.all_reduced_bytes, updates * (replicas - 1) * 2 * 4 * expected.whole);
    EXPECT_EQ(whole.all_reduced_bytes,
              shards.all_reduced_bytes + shards.scattered_bytes + shards.gathered_bytes);
  }
}

TEST(ShardedState, OfARuleWithoutAnyIsNotDivided) {
  const TrainingRun plain = run(divided(replicated(2), 2), Sgd{});
  for (const StageReport& stage : plain.stages) {
    EXPECT_EQ(stage.collectives.reduce_scatters, 0u);
    EXPECT_EQ(stage.collectives.all_gathers, 0u);
  }
  EXPECT_EQ(first_difference(plain, run(replicated(2), Sgd{})), "");
}

TEST(ShardedState, OfASingleReplicaIsWholeAndSaysSo) {
  const Options options = divided(replicated(1), 2);
  const TrainingModel model(network(), options, AdamW{});
  const auto& warnings = model.compile_report().warnings;
  EXPECT_EQ(std::ranges::count(warnings,
                               "options.training.sharding.optimizer_state: there are no replicas "
                               "to share with, and nothing is divided"),
            1);
  const TrainingRun single = run(options);
  EXPECT_EQ(sum(single, 0, on_ipus), 720'208);
  for (const StageReport& stage : single.stages) {
    EXPECT_EQ(stage.collectives.all_reduces + stage.collectives.all_gathers, 0u);
    EXPECT_EQ(stage.collectives.all_reduced_bytes, 0);
  }
  EXPECT_EQ(first_difference(single, run(replicated(1))), "");
}

// A plan counts the memory of a run to the byte.
TEST(ShardedState, MakesAPlanFitThatIsRefusedWithout) {
  Options whole = replicated(2), shards = divided(replicated(2));
  for (Options* options : {&whole, &shards}) {
    options->topology.stages = parse_stages("B1,B2,B3,B4");
    const std::int64_t bytes = sum(run(*options), 0, peak);
    options->topology.ipu_memory_bytes = bytes;
    EXPECT_EQ(sum(run(*options), 1, peak), bytes);
    options->topology.ipu_memory_bytes = bytes - 1;
    EXPECT_NE(refusal(Errc::out_of_memory, [&] { run(*options); }), "accepted");
  }
  whole.topology.ipu_memory_bytes = shards.topology.ipu_memory_bytes += 1;
  const std::string text = refusal(Errc::out_of_memory, [&] { run(whole); });
  EXPECT_NE(text.find("the optimizer's state divided among the replicas "
                      "(options.training.sharding.optimizer_state), which needs"),
            std::string::npos)
      << text;
  EXPECT_EQ(refusal(Errc::out_of_memory, [&] { run(shards); }), "accepted");
}

std::vector<Optimizer> optimizers() {
  Optimizer clipped = Lamb{.learning_rate = 0.01, .weight_decay = 0.1};
  clipped.max_grad_norm = 0.5;
  Optimizer exact = AdamW{.learning_rate = 0.01};
  exact.max_grad_norm = 0.1;
  exact.exact_max_grad_norm = true;
  exact.loss_scaling = 1024;
  Optimizer scheduled = Sgd{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true};
  scheduled.schedule = LearningRateSchedule::exponential(0.5).after_warm_up(2);
  return {Lamb{.learning_rate = 0.01},
          clipped,
          exact,
          scheduled,
          Adam{.learning_rate = 0.01, .weight_decay = 0.1},
          RmsProp{.learning_rate = 0.001, .momentum = 0.5, .centered = true}};
}

TEST(ShardedState, ChangesNoBitUnderAnyRule) {
  for (const int replicas : {2, 3, 4})
    for (std::size_t i = 0; const Optimizer& optimizer : optimizers()) {
      const TrainingRun whole = run(replicated(replicas), optimizer);
      for (const std::int64_t minimum : {8192, 200})
        ASSERT_EQ(first_difference(run(divided(replicated(replicas), minimum), optimizer), whole),
                  "")
            << "optimizer " << i << ", " << replicas << " replicas, from " << minimum;
      ++i;
    }
}

// The norms of LAMB's directions are measured in one stage alone, in a round of its own.
TEST(ShardedState, ChangesNoBitIfOneStageHasARuleWithNorms) {
  for (const double max_grad_norm : {0.0, 0.5})
    for (const Strategy strategy : {Strategy::pipelined, Strategy::sharded}) {
      Optimizer optimizer = AdamW{.learning_rate = 0.01};
      optimizer.groups = {{{"layer3.weight"}, Lamb{.learning_rate = 0.01}}};
      optimizer.max_grad_norm = max_grad_norm;
      Options options = replicated(2);
      options.topology.strategy = strategy;
      options.topology.stages = parse_stages("B1|B2|B3|B4");
      ASSERT_EQ(first_difference(run(divided(options, 200), optimizer), run(options, optimizer)),
                "")
          << to_string(strategy) << ", clipped to " << max_grad_norm;
    }
}

// Every seventh of all combinations is tested. Among these, each value of a setting meets each
// value of another.
TEST(ShardedState, ChangesNoBitWhateverItIsCombinedWith) {
  Optimizer clipped = Lamb{.learning_rate = 0.01};
  clipped.max_grad_norm = 0.5;
  for (const Optimizer& optimizer : {Optimizer(AdamW{.learning_rate = 0.01}), clipped})
    for (const ReductionStrategy strategy : {ReductionStrategy::post, ReductionStrategy::running}) {
      Options options = replicated(3);
      options.training.reduction_strategy = strategy;
      const TrainingRun whole = run(options, optimizer);
      for (int kind = 0; kind < 3 * 2 * 2 * 2 * 2 * 2; kind += 7) {
        Options one = divided(options, 200);
        const int schedule = kind % 3, switches = kind / 3;
        one.topology.strategy = schedule == 2 ? Strategy::sharded : Strategy::pipelined;
        one.topology.schedule =
            schedule == 1 ? PipelineSchedule::interleaved : PipelineSchedule::grouped;
        one.training.offload.optimizer_state.on = switches & 1;
        one.training.offload.accumulators.on = switches & 2;
        one.training.recompute = switches & 4;
        one.topology.threads_per_ipu = switches & 8 ? 3 : 1;
        one.topology.stages = parse_stages(switches & 16 ? "B1,B2|B3,B4" : "B1|B2|B3|B4");
        ASSERT_EQ(first_difference(run(one, optimizer), whole), "") << "combination " << kind;
      }
    }
}

}  // namespace
}  // namespace penstock::testing
