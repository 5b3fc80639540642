// These tests check that every topology gives the same bits. They are the strongest of all tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "apps/networks/networks.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t updates = 5;
/// A micro-batch of this size is large enough for the convolutions to work on 16 samples at once,
/// of which four are padding.
constexpr int batch = 12;

/// A Placement maps blocks to stages, and stages to IPUs.
struct Placement {
  const char* stages;
  std::vector<int> ipus;
};

const Placement placements[] = {
    {"B1,B2,B3,B4", {0}},          {"B1,B2|B3,B4", {0, 0}},       {"B1,B2|B3,B4", {0, 1}},
    {"B1|B2|B3|B4", {0, 0, 0, 0}}, {"B1|B2|B3|B4", {0, 1, 1, 0}}, {"B1|B2|B3|B4", {0, 1, 2, 3}},
};

/// An Execution is pipelined execution by one of the schedules, or sharded execution.
struct Execution {
  const char* name;
  Strategy strategy;
  PipelineSchedule schedule;
};

const Execution executions[] = {
    {"grouped", Strategy::pipelined, PipelineSchedule::grouped},
    {"interleaved", Strategy::pipelined, PipelineSchedule::interleaved},
    {"sequential", Strategy::pipelined, PipelineSchedule::sequential},
    {"sharded", Strategy::sharded, PipelineSchedule::grouped},
};

Options options_for(const Placement& placement, const Execution& execution) {
  Options options{.batch_size = batch, .device_iterations = 1};
  options.topology.strategy = execution.strategy;
  options.topology.schedule = execution.schedule;
  options.topology.stages = parse_stages(placement.stages);
  options.topology.ipus = placement.ipus;
  options.training.gradient_accumulation = 4;
  return options;
}

const std::vector<Tensor>& digits() {
  static const std::vector<Tensor> samples = all_samples(
      *first_samples(read_idx(data_path("mnist"), Split::train, {.mean = 0.1307, .std = 0.3081}),
                     batch * 4 * 2 * updates));
  return samples;
}

TrainingRun run(const Options& options, const Optimizer& optimizer = AdamW{.learning_rate = 0.01}) {
  return train(networks::find_network("mnist-cnn").build(3), options, optimizer, digits(), updates);
}

/// Returns `options` with recomputation.
Options recomputed(Options options) {
  options.training.recompute = true;
  return options;
}

const TrainingRun& single_device() {
  static const TrainingRun result = run(options_for(placements[0], executions[0]));
  return result;
}

void expect_near(const TrainingRun& a, const TrainingRun& b, float limit) {
  for (const auto& [name, tensor] : a.weights) {
    const auto x = tensor.as<float>(), y = b.weights.at(name).as<float>();
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], limit) << name;
  }
}

class Topologies
    : public ::testing::TestWithParam<std::tuple<Execution, Placement, bool, int, int>> {};

// A7, G3 and I9 of docs/reference.md: b and G mean the same wherever stages run, also on one IPU
// and in sharded execution.
TEST_P(Topologies, GiveTheBitsOfASingleDevice) {
  const auto& [execution, placement, offload, threads, iterations] = GetParam();
  Options options = options_for(placement, execution);
  options.training.offload.optimizer_state.on = offload;
  options.runtime.threads = threads;
  options.device_iterations = iterations;
  EXPECT_EQ(first_difference(run(options), single_device()), "");
}

INSTANTIATE_TEST_SUITE_P(All, Topologies,
                         ::testing::Combine(::testing::ValuesIn(executions),
                                            ::testing::ValuesIn(placements), ::testing::Bool(),
                                            ::testing::Values(1, 2), ::testing::Values(1, 5)));

TEST(ThreadsPerIpu, ChangeNoBit) {
  const Optimizer adam = AdamW{.learning_rate = 0.001};
  for (const char* network : {"mnist-cnn", "fashion-cnn", "mlp"}) {
    const auto with = [&](int threads, const Placement& placement) {
      Options options = options_for(placement, executions[0]);
      options.topology.threads_per_ipu = threads;
      return train(networks::find_network(network).build(3), options, adam, digits(), updates);
    };
    const TrainingRun alone = with(1, placements[0]);
    for (const int threads : {0, 2, 3}) {
      EXPECT_EQ(first_difference(with(threads, placements[0]), alone), "")
          << network << ", " << threads << " threads";
      EXPECT_EQ(first_difference(with(threads, placements[2]), alone), "")
          << network << ", " << threads << " threads on each of two IPUs";
    }
  }
}

class Recomputation : public ::testing::TestWithParam<std::tuple<Execution, Placement, bool, int>> {
};

TEST_P(Recomputation, GivesTheBitsOfASingleDevice) {
  const auto& [execution, placement, offload, iterations] = GetParam();
  Options options = recomputed(options_for(placement, execution));
  options.training.offload.optimizer_state.on = offload;
  options.device_iterations = iterations;
  EXPECT_EQ(first_difference(run(options), single_device()), "");
}

INSTANTIATE_TEST_SUITE_P(All, Recomputation,
                         ::testing::Combine(::testing::ValuesIn(executions),
                                            ::testing::ValuesIn(placements), ::testing::Bool(),
                                            ::testing::Values(1, 5)));

TEST(Topologies, RepeatTheirBits) {
  const Options options = options_for(placements[5], executions[0]);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(first_difference(run(options), single_device()), "");
}

Options replicated(const Placement& placement, const Execution& execution) {
  Options options = options_for(placement, execution);
  options.topology.replication_factor = 2;
  return options;
}

// D3 and 4.1 of docs/reference.md: the weights after a training with two replicas do not depend on
// the topology of a replica.
TEST(Replication, GivesTheSameBitsForEveryTopology) {
  const TrainingRun reference = run(replicated(placements[0], executions[0]));
  for (const Execution& execution : executions)
    for (const Placement& placement : placements)
      EXPECT_EQ(first_difference(run(replicated(placement, execution)), reference), "")
          << execution.name << " " << placement.stages;
}

// The optimizer is SGD: Adam's first steps depend on a gradient's sign alone, so that the rounding
// of a gradient near 0 would change them.
TEST(Replication, DiffersFromLongerAccumulationOnlyByRounding) {
  const Optimizer descent = Sgd{.learning_rate = 0.05, .momentum = 0.9};
  Options longer = options_for(placements[5], executions[0]);
  longer.training.gradient_accumulation = 8;
  const TrainingRun one = run(longer, descent);
  const TrainingRun two = run(replicated(placements[5], executions[0]), descent);
  EXPECT_NE(first_difference(one, two), "") << "the sum is grouped differently";
  expect_near(one, two, 1e-5f);
}

TEST(Replication, CountsTheRunsOfEachReplica) {
  const TrainingRun two = run(replicated(placements[5], executions[0]));
  ASSERT_EQ(two.stages.size(), 8u);
  for (const StageReport& stage : two.stages) {
    EXPECT_EQ(stage.forward_runs, 4u * updates) << stage.replica << "/" << stage.stage;
    EXPECT_EQ(stage.backward_runs, 4u * updates) << stage.replica << "/" << stage.stage;
    EXPECT_EQ(stage.ipu, stage.replica * 4 + stage.stage);
  }
}

// A11 and 3.4 of docs/reference.md: in each replica only one IPU is busy at a time, and all IPUs
// have their turns.
TEST(Replication, KeepsOneIpuOfEachReplicaBusyAtATimeWhereStagesTakeTurns) {
  for (const Execution& execution : {executions[2], executions[3]}) {
    Options options = replicated(placements[5], execution);
    options.runtime.trace = true;
    TrainingModel training(networks::find_network("mnist-cnn").build(3), options, Sgd{});
    std::vector<Tensor> samples;
    for (const Tensor& field : digits()) samples.push_back(field.rows(0, batch * 4 * 2));
    training.step(samples);
    std::vector<TraceEvent> events = training.take_trace();
    std::ranges::sort(events, {},
                      [](const TraceEvent& e) { return std::pair(e.replica, e.begin_ns); });
    std::set<int> ipus[2];
    for (std::size_t i = 0; i < events.size(); ++i) {
      ipus[events[i].replica].insert(events[i].ipu);
      if (i == 0 || events[i].replica != events[i - 1].replica) continue;
      EXPECT_GE(events[i].begin_ns, events[i - 1].end_ns) << execution.name;
    }
    EXPECT_EQ(ipus[0], (std::set<int>{0, 1, 2, 3})) << execution.name;
    EXPECT_EQ(ipus[1], (std::set<int>{4, 5, 6, 7})) << execution.name;
  }
}

TEST(AutomaticStages, GiveTheBitsOfASingleDevice) {
  for (const int stages : {1, 2, 3, 4, 6}) {
    for (const Execution& execution : executions) {
      Options options = options_for(placements[0], execution);
      options.topology.stages = {};
      options.topology.ipus = {};
      options.topology.automatic_stages = stages;
      const TrainingRun result = run(options);
      EXPECT_EQ(result.stages.size(), static_cast<std::size_t>(stages));
      EXPECT_EQ(first_difference(result, single_device()), "") << stages << " " << execution.name;
    }
  }
}

TEST(Clipping, ReachesOverAllStagesAndKeepsTheBits) {
  const auto clipped = [](const Options& options) {
    Optimizer optimizer = Sgd{.learning_rate = 0.1, .momentum = 0.9};
    optimizer.max_grad_norm = 0.5;
    return run(options, optimizer);
  };
  const TrainingRun reference = clipped(options_for(placements[0], executions[0]));
  EXPECT_NE(first_difference(reference, single_device()), "");
  for (const Execution& execution : executions)
    for (const Placement& placement : placements)
      EXPECT_EQ(first_difference(clipped(options_for(placement, execution)), reference), "")
          << execution.name << " " << placement.stages;
}

TEST(Schedules, CountUpdatesTheSameEverywhere) {
  const auto scheduled = [](Options options, int iterations) {
    options.device_iterations = iterations;
    Optimizer optimizer = AdamW{.learning_rate = 0.01};
    optimizer.schedule = LearningRateSchedule::cosine(4, 0.1).after_warm_up(2);
    return run(options, optimizer);
  };
  const TrainingRun reference = scheduled(options_for(placements[0], executions[0]), 1);
  EXPECT_NE(first_difference(reference, single_device()), "");
  for (const Execution& execution : executions)
    for (const int iterations : {1, 5})
      EXPECT_EQ(
          first_difference(scheduled(options_for(placements[5], execution), iterations), reference),
          "")
          << execution.name << iterations;
}

// 2.3 of docs/reference.md: a loss scaling that is a power of two changes no bit, and any other one
// changes the weights by rounding only. Clipping works on the gradient without the scaling.
TEST(LossScaling, LeavesNoTrace) {
  const auto scaled = [](double loss_scaling, double max_grad_norm, const Options& options) {
    Optimizer optimizer = Sgd{.learning_rate = 0.1, .momentum = 0.9};
    optimizer.loss_scaling = loss_scaling;
    optimizer.max_grad_norm = max_grad_norm;
    return run(options, optimizer);
  };
  const Options one = options_for(placements[0], executions[0]),
                four = options_for(placements[5], executions[1]);
  for (const double max_grad_norm : {0.0, 0.5}) {
    const TrainingRun reference = scaled(1, max_grad_norm, one);
    for (const double power : {1024.0, 0.125})
      EXPECT_EQ(first_difference(scaled(power, max_grad_norm, four), reference), "") << power;
    const TrainingRun other = scaled(1000, max_grad_norm, one);
    EXPECT_NE(first_difference(other, reference), "") << "rounding";
    EXPECT_EQ(first_difference(scaled(1000, max_grad_norm, four), other), "");
    expect_near(other, reference, 1e-4);
  }
}

/// Returns `options` with a running mean of the micro-batches' gradients.
Options running(Options options) {
  options.training.reduction_strategy = ReductionStrategy::running;
  return options;
}

// 2.1 of docs/reference.md: a running mean and a sum that is divided at the end differ by rounding
// only.
TEST(RunningMeans, AreTheSameBitsForEveryTopology) {
  const Optimizer descent = Sgd{.learning_rate = 0.05, .momentum = 0.9};
  for (const bool two : {false, true}) {
    const auto options = [&](const Placement& placement, const Execution& execution) {
      return running(two ? replicated(placement, execution) : options_for(placement, execution));
    };
    const TrainingRun reference = run(options(placements[0], executions[0]), descent);
    for (const Execution& execution : executions)
      for (const Placement& placement : {placements[2], placements[5]})
        EXPECT_EQ(first_difference(run(options(placement, execution), descent), reference), "")
            << execution.name << " " << placement.stages;
    Options post = options(placements[0], executions[0]);
    post.training.reduction_strategy = ReductionStrategy::post;
    const TrainingRun divided = run(post, descent);
    EXPECT_NE(first_difference(divided, reference), "");
    expect_near(divided, reference, 1e-5);
  }
}

/// Trains one update on b·G·R samples, the first ones of the digits.
TrainingRun one_update(int b, int g, int r, Reduction reduction, double learning_rate) {
  Options options = options_for(placements[5], executions[0]);
  options.batch_size = b;
  options.training.gradient_accumulation = g;
  options.topology.replication_factor = r;
  options.training.reduction = reduction;
  return train(networks::find_network("mlp").build(3), options, Sgd{.learning_rate = learning_rate},
               digits(), 1);
}

// D8 and 2.1 of docs/reference.md: with a mean loss and a mean of gradients, an update depends on
// b·G·R only, and not on b, G and R themselves.
TEST(Reductions, OfMeansDependOnTheNumberOfSamplesAlone) {
  const TrainingRun whole = one_update(48, 1, 1, Reduction::mean, 0.1);
  const int cuts[][3] = {{12, 4, 1}, {12, 2, 2}, {24, 1, 2}, {6, 8, 1}, {4, 4, 3}};
  for (const auto& [b, g, r] : cuts)
    expect_near(one_update(b, g, r, Reduction::mean, 0.1), whole, 1e-6);
}

// 2.1 of docs/reference.md: an update by the sum of n gradients equals an update by their mean with
// n times the learning rate.
TEST(Reductions, OfSumsAreThoseOfMeansWithScaledRates) {
  const TrainingRun mean = one_update(12, 4, 1, Reduction::mean, 0.5);
  EXPECT_EQ(first_difference(one_update(12, 4, 1, Reduction::sum, 0.125), mean), "")
      << "a power of two";
  expect_near(one_update(8, 3, 2, Reduction::sum, 0.5 / 6),
              one_update(8, 3, 2, Reduction::mean, 0.5), 1e-6);
}

/// Returns a network with what the tutorials' networks lack: statistics that every micro-batch
/// changes, random numbers, a value that two later stages read, and labels that only the last stage
/// reads. The results of the layers that `checkpoints` names are marked for recomputation.
Model residual_network(const std::set<std::string>& checkpoints = {}) {
  Model model("residual", 5);
  const Value images = model.input("image", {1, 28, 28});
  const Value labels = model.labels();
  const Conv2dOptions convolution{.out_channels = 4, .kernel = 3, .padding = 1};
  const auto marked = [&](const char* name, Value value) {
    return checkpoints.contains(name) ? model.recomputation_checkpoint(value) : value;
  };
  Value skip, x;
  {
    const auto block = model.block("B1");
    x = marked("conv1", model.conv2d("conv1", images, convolution));
    x = model.batch_norm2d("norm1", x);
    skip = model.relu(model.max_pool2d(x));
  }
  {
    const auto block = model.block("B2");
    x = marked("norm2", model.batch_norm2d("norm2", model.conv2d("conv2", skip, convolution)));
    x = model.dropout("dropout2", x, 0.25);
  }
  {
    const auto block = model.block("B3");
    x = model.max_pool2d(model.relu(model.add(x, skip)));
  }
  const auto block = model.block("B4");
  x = marked("dropout4", model.dropout("dropout4", model.flatten(x), 0.5));
  x = model.linear("logits", x, 10);
  model.output("logits", x);
  model.loss(
      model.cross_entropy(model.add(x, model.linear("short", model.flatten(skip), 10)), labels));
  return model;
}

// A15 of docs/reference.md: a residual network with batch norm is trained in one replica and in
// two.
TEST(Topologies, GiveTheSameStatisticsAndRandomNumbers) {
  const auto residual = [](const Options& options) {
    return train(residual_network(), options, Sgd{.learning_rate = 0.05, .momentum = 0.9}, digits(),
                 updates);
  };
  for (const int replicas : {1, 2}) {
    const auto with_replicas = [&](const Placement& placement, const Execution& execution) {
      Options options = options_for(placement, execution);
      options.topology.replication_factor = replicas;
      return options;
    };
    const TrainingRun reference = residual(with_replicas(placements[0], executions[0]));
    EXPECT_NE(reference.weights.at("norm1.running_mean").as<float>()[0], 0);
    for (const Execution& execution : executions)
      for (const Placement& placement : placements)
        for (const bool recompute : {false, true}) {
          Options options = with_replicas(placement, execution);
          options.training.recompute = recompute;
          EXPECT_EQ(first_difference(residual(options), reference), "")
              << replicas << " replicas, " << execution.name << " " << placement.stages
              << (recompute ? ", recomputed" : "");
        }
  }
}

TEST(Recomputation, GivesTheSameStatisticsAndRandomNumbersWithAnyCheckpoints) {
  const auto residual = [](const Model& model, const Options& options) {
    return train(model, options, Sgd{.learning_rate = 0.05, .momentum = 0.9}, digits(), updates);
  };
  const Options options = options_for(placements[5], executions[0]);
  const TrainingRun reference = residual(residual_network(), options);
  for (const auto& checkpoints : std::vector<std::set<std::string>>{
           {}, {"conv1"}, {"norm2"}, {"conv1", "norm2"}, {"dropout4"}}) {
    const std::string what = ::testing::PrintToString(checkpoints);
    const Model model = residual_network(checkpoints);
    const TrainingRun run = residual(model, recomputed(options));
    EXPECT_EQ(first_difference(run, reference), "") << what;
    for (const StageReport& stage : run.stages) {
      EXPECT_EQ(stage.forward_runs, 4u * updates) << what;
      EXPECT_EQ(stage.recomputed_runs, stage.stage < 3 ? 4u * updates : 0) << what << stage.stage;
    }
  }
}

TEST(Recomputation, CanBeTurnedOnForSomeStages) {
  Options options = recomputed(replicated(placements[5], executions[1]));
  options.training.recompute_stages = {1};
  const TrainingRun one = run(options);
  EXPECT_EQ(first_difference(one, run(replicated(placements[5], executions[1]))), "");
  for (const StageReport& stage : one.stages)
    EXPECT_EQ(stage.recomputed_runs, stage.stage == 1 ? 4u * updates : 0) << stage.stage;
}

// A15 of docs/reference.md: each replica has batch norm statistics of its own, and the compiler
// warns of that.
TEST(Replication, WarnsOfStatisticsThatAreNotShared) {
  const TrainingModel training(residual_network(), replicated(placements[5], executions[0]), Sgd{});
  const auto& warnings = training.compile_report().warnings;
  EXPECT_TRUE(std::ranges::any_of(warnings, [](const std::string& warning) {
    return warning.starts_with("batch norm \"norm1\" and 1 more: each of 2 replicas");
  }));
}

}  // namespace
}  // namespace penstock::testing
