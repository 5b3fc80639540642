#include "apps/trainer/options/engine_options.hpp"
#include "apps/trainer/options/rule_options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace trainer {
namespace {

OptimizerOptions named(const std::string& rule) {
  return {.rule = rule};
}

template <class Rule>
Rule rule_of(const OptimizerOptions& options) {
  return std::get<Rule>(make_optimizer(options).settings);
}

TEST(EngineOptions, AStepOfTheDefaultRecipeTakes4000Samples) {
  EXPECT_EQ(training_options({}).samples_per_step(), 4000);
  EXPECT_EQ(training_options({}).output.mode, penstock::OutputMode::all);
}

TEST(EngineOptions, InferenceTakesAsManyMicroBatchesPerCallAsTraining) {
  const penstock::Options options = inference_options({}, 10000);
  EXPECT_EQ(options.batch_size, 8);
  EXPECT_EQ(options.device_iterations, 100);
  EXPECT_EQ(options.training.gradient_accumulation, 1);
}

TEST(EngineOptions, InferenceTakesNoMoreThanTheTestSetHas) {
  TrainerOptions options;
  EXPECT_EQ(inference_options(options, 33).device_iterations, 5);
  options.pipeline.replication_factor = 2;
  EXPECT_EQ(inference_options(options, 33).device_iterations, 3);
  options.training.test_batch_size = 1 << 30;
  options.training.device_iterations = 1 << 30;
  EXPECT_EQ(inference_options(options, 33).batch_size, 33);
  EXPECT_EQ(inference_options(options, 33).device_iterations, 1);
}

TEST(EngineOptions, ARunShorterThanAStepHasShorterSteps) {
  TrainerOptions options;
  options.training.max_updates = 3;
  EXPECT_EQ(training_options(options).device_iterations, 3);
  options.training.max_updates = 1'000'000'000'000;
  EXPECT_EQ(training_options(options).device_iterations, 10);
}

TEST(EngineOptions, TrainingAndInferenceHaveTheSamePhases) {
  TrainerOptions options;
  options.pipeline.strategy = penstock::Strategy::serial_phased;
  options.pipeline.phase_liveness = penstock::PhaseLiveness::off_ipu_after_forward;
  options.pipeline.weights_on_ipu = true;
  options.pipeline.phases = penstock::parse_phases("B1|B2;B3,B4");
  options.pipeline.batch_serial = true;
  for (const penstock::Options& engine :
       {training_options(options), inference_options(options, 1000)}) {
    const penstock::PhasedOptions& phased = engine.topology.phased;
    EXPECT_EQ(engine.topology.strategy, penstock::Strategy::serial_phased);
    ASSERT_EQ(phased.phases.size(), 2U);
    EXPECT_EQ(phased.phases[0].stages.size(), 2U);
    EXPECT_EQ(phased.liveness, penstock::PhaseLiveness::off_ipu_after_forward);
    EXPECT_TRUE(phased.on_ipu.weights);
    EXPECT_FALSE(phased.on_ipu.activations);
    EXPECT_TRUE(phased.batch_serial);
    EXPECT_FALSE(phased.separate_backward_phase);
  }
}

TEST(EngineOptions, TrainingAndInferenceRunOnTheSamePipeline) {
  TrainerOptions options;
  options.pipeline.strategy = penstock::Strategy::sharded;
  options.pipeline.schedule = penstock::PipelineSchedule::interleaved;
  options.pipeline.stages = StagesOption{.stages = penstock::parse_stages("B1,B2|B3,B4")};
  options.pipeline.ipus = {3, 5};
  options.pipeline.replication_factor = 2;
  options.pipeline.threads = 3;
  options.pipeline.threads_per_ipu = 4;
  options.pipeline.stall_seconds = 2.5;
  options.pipeline.recovery_attempts = 5;
  options.pipeline.recovery_wait = 0.5;
  options.output.profile = true;
  options.network.seed = 9;
  for (const penstock::Options& engine :
       {training_options(options), inference_options(options, 1000)}) {
    EXPECT_EQ(engine.topology.strategy, penstock::Strategy::sharded);
    EXPECT_EQ(engine.topology.schedule, penstock::PipelineSchedule::interleaved);
    ASSERT_EQ(engine.topology.stages.size(), 2U);
    EXPECT_EQ(engine.topology.stages[1].blocks, (std::vector<std::string>{"B3", "B4"}));
    EXPECT_EQ(engine.topology.ipus, (std::vector<int>{3, 5}));
    EXPECT_EQ(engine.topology.replication_factor, 2);
    EXPECT_EQ(engine.runtime.threads, 3);
    EXPECT_EQ(engine.topology.threads_per_ipu, 4);
    EXPECT_EQ(engine.runtime.stall_seconds, 2.5);
    EXPECT_EQ(engine.recovery.attempts, 5);
    EXPECT_EQ(engine.recovery.wait_seconds, 0.5);
    EXPECT_TRUE(engine.runtime.trace);
    EXPECT_EQ(engine.seed, 9U);
  }
}

TEST(EngineOptions, OnlyTrainingRecomputes) {
  TrainerOptions options;
  EXPECT_FALSE(training_options(options).training.recompute);
  options.pipeline.recompute = {0, 2};
  EXPECT_TRUE(training_options(options).training.recompute);
  EXPECT_EQ(training_options(options).training.recompute_stages, (std::vector<int>{0, 2}));
  EXPECT_FALSE(inference_options(options, 1000).training.recompute);
}

TEST(EngineOptions, AutomaticStagesAreAsManyAsAskedForOrAsThereAreIpus) {
  TrainerOptions options;
  options.pipeline.ipus = {2, 2, 3};
  options.pipeline.stages.emplace();
  EXPECT_EQ(training_options(options).topology.automatic_stages, 3);
  options.pipeline.stages->automatic = 2;
  EXPECT_EQ(inference_options(options, 10).topology.automatic_stages, 2);
  EXPECT_TRUE(training_options(options).topology.stages.empty());
}

TEST(EngineOptions, OnlyTrainingReducesGradientsAndOffloadsState) {
  TrainerOptions options;
  options.pipeline.reduction = penstock::Reduction::sum;
  options.pipeline.reduction_strategy = penstock::ReductionStrategy::running;
  options.pipeline.offload_optimizer = true;
  EXPECT_EQ(training_options(options).training.reduction, penstock::Reduction::sum);
  EXPECT_EQ(training_options(options).training.reduction_strategy,
            penstock::ReductionStrategy::running);
  EXPECT_TRUE(training_options(options).training.offload.optimizer_state.on);
  EXPECT_EQ(training_options(options).training.offload.optimizer_state.minimum_bytes, 8);
  EXPECT_FALSE(training_options(options).training.offload.accumulators.on);
  options.pipeline.offload_accumulators = true;
  options.pipeline.offload_minimum = 4000;
  EXPECT_TRUE(training_options(options).training.offload.accumulators.on);
  EXPECT_EQ(training_options(options).training.offload.accumulators.minimum_bytes, 4000);
  EXPECT_EQ(training_options(options).training.offload.optimizer_state.minimum_bytes, 4000);
  EXPECT_FALSE(training_options(options).training.offload.activations.on);
  EXPECT_FALSE(training_options(options).training.offload.weights.on);
  options.pipeline.offload_activations = options.pipeline.offload_weights = true;
  for (const penstock::Offload& offload :
       {training_options(options).training.offload.activations,
        training_options(options).training.offload.weights,
        inference_options(options, 100).training.offload.weights}) {
    EXPECT_TRUE(offload.on);
    EXPECT_EQ(offload.minimum_bytes, 4000);
  }
  EXPECT_FALSE(inference_options(options, 100).training.offload.activations.on);
  EXPECT_FALSE(inference_options(options, 100).training.offload.optimizer_state.on);
}

TEST(EngineOptions, OnlyTrainingDividesState) {
  TrainerOptions options;
  EXPECT_FALSE(training_options(options).training.sharding.optimizer_state.on);
  options.pipeline.shard_optimizer = true;
  EXPECT_TRUE(training_options(options).training.sharding.optimizer_state.on);
  EXPECT_EQ(training_options(options).training.sharding.optimizer_state.minimum_elements, 8192);
  options.pipeline.shard_minimum = 100;
  EXPECT_EQ(training_options(options).training.sharding.optimizer_state.minimum_elements, 100);
  EXPECT_FALSE(inference_options(options, 100).training.sharding.optimizer_state.on);
}

TEST(EngineOptions, WeightDecayDefaultsToPyTorchs) {
  EXPECT_EQ(rule_of<penstock::AdamW>(named("adamw")).weight_decay, 0.01);
  EXPECT_EQ(rule_of<penstock::Lamb>(named("lamb")).weight_decay, 0.01);
  EXPECT_EQ(rule_of<penstock::Adam>(named("adam")).weight_decay, 0);
  EXPECT_EQ(rule_of<penstock::Sgd>(named("sgd")).weight_decay, 0);
  EXPECT_EQ(rule_of<penstock::RmsProp>(named("rmsprop")).weight_decay, 0);
}

TEST(EngineOptions, EveryRuleGetsTheLearningRate) {
  for (const std::string& name : rule_names()) {
    OptimizerOptions options = named(name);
    EXPECT_EQ(std::visit([](const auto& rule) { return rule.learning_rate; },
                         make_optimizer(options).settings),
              0.001);
    options.learning_rate = 0.25;
    EXPECT_EQ(std::visit([](const auto& rule) { return rule.learning_rate; },
                         make_optimizer(options).settings),
              0.25);
  }
}

TEST(EngineOptions, GivenConstantsReachTheirRule) {
  OptimizerOptions sgd = named("sgd");
  sgd.constants["momentum"] = 0.5;
  sgd.constants["dampening"] = 0.25;
  sgd.constants["nesterov"] = 1;
  sgd.constants["weight_decay"] = 0;
  EXPECT_EQ(rule_of<penstock::Sgd>(sgd).momentum, 0.5);
  EXPECT_EQ(rule_of<penstock::Sgd>(sgd).dampening, 0.25);
  EXPECT_TRUE(rule_of<penstock::Sgd>(sgd).nesterov);

  OptimizerOptions rmsprop = named("rmsprop");
  rmsprop.constants["alpha"] = 0.5;
  rmsprop.constants["momentum"] = 0.75;
  rmsprop.constants["eps"] = 1e-3;
  EXPECT_EQ(rule_of<penstock::RmsProp>(rmsprop).alpha, 0.5);
  EXPECT_EQ(rule_of<penstock::RmsProp>(rmsprop).momentum, 0.75);
  EXPECT_EQ(rule_of<penstock::RmsProp>(rmsprop).eps, 1e-3);

  OptimizerOptions lamb = named("lamb");
  lamb.constants["beta1"] = 0.5;
  lamb.constants["beta2"] = 0.25;
  lamb.constants["eps"] = 1e-2;
  lamb.constants["weight_decay"] = 0.125;
  lamb.max_grad_norm = 2;
  lamb.loss_scaling = 16;
  EXPECT_EQ(rule_of<penstock::Lamb>(lamb).beta1, 0.5);
  EXPECT_EQ(rule_of<penstock::Lamb>(lamb).beta2, 0.25);
  EXPECT_EQ(rule_of<penstock::Lamb>(lamb).eps, 1e-2);
  EXPECT_EQ(rule_of<penstock::Lamb>(lamb).weight_decay, 0.125);
  EXPECT_EQ(make_optimizer(lamb).max_grad_norm, 2);
  EXPECT_EQ(make_optimizer(lamb).loss_scaling, 16);
}

TEST(EngineOptions, SwitchesReachTheirRule) {
  OptimizerOptions sgd = named("sgd");
  EXPECT_FALSE(rule_of<penstock::Sgd>(sgd).keras_variant);
  sgd.constants = {{"dampen_first_step", 1}, {"keras_variant", 1}};
  EXPECT_TRUE(rule_of<penstock::Sgd>(sgd).dampen_first_step);
  EXPECT_TRUE(rule_of<penstock::Sgd>(sgd).keras_variant);

  OptimizerOptions rmsprop = named("rmsprop");
  rmsprop.constants = {{"centered", 1}, {"tf_variant", 1}};
  EXPECT_TRUE(rule_of<penstock::RmsProp>(rmsprop).centered);
  EXPECT_TRUE(rule_of<penstock::RmsProp>(rmsprop).tf_variant);

  OptimizerOptions lamb = named("lamb");
  EXPECT_TRUE(rule_of<penstock::Lamb>(lamb).bias_correction);
  EXPECT_EQ(rule_of<penstock::Lamb>(lamb).max_weight_norm, std::nullopt);
  lamb.constants["bias_correction"] = 0;
  lamb.constants["max_weight_norm"] = 3;
  EXPECT_FALSE(rule_of<penstock::Lamb>(lamb).bias_correction);
  EXPECT_EQ(rule_of<penstock::Lamb>(lamb).max_weight_norm, 3);
}

TEST(EngineOptions, SchedulesAreThoseAskedFor) {
  LearningRateOptions options;
  EXPECT_EQ(make_schedule(options, 100).at(50), 1);
  options.warm_up = 20;
  EXPECT_EQ(make_schedule(options, 100).at(5), 0.25);
  options.schedule = ScheduleName::cosine;
  options.last = 0.5;
  EXPECT_EQ(make_schedule(options, 100).at(60), 0.75) << "half of what is left after the warm-up";
  EXPECT_EQ(make_schedule(options, 10).at(21), 0.5) << "warms up for longer than it runs";
  options.updates = 2;
  EXPECT_EQ(make_schedule(options, 100).at(21), 0.75);
  LearningRateOptions steps;
  steps.schedule = ScheduleName::step;
  steps.step = 10;
  EXPECT_EQ(make_schedule(steps, 100).at(19), 0.1);
  steps.schedule = ScheduleName::exponential;
  steps.decay = 0.5;
  EXPECT_EQ(make_schedule(steps, 100).at(3), 0.125);
}

TEST(EngineOptions, TrainingShufflesAndDropsWhereTheTestReadsEverySampleInOrder) {
  TrainerOptions options;
  options.network.seed = 4;
  options.data.num_workers = 7;
  options.data.buffered_batches = 5;
  EXPECT_TRUE(training_loader_options(options).shuffle);
  EXPECT_TRUE(training_loader_options(options).drop_last);
  EXPECT_EQ(training_loader_options(options).seed, 4U);
  EXPECT_EQ(training_loader_options(options).workers, 7);
  EXPECT_EQ(training_loader_options(options).buffered, 5);
  EXPECT_FALSE(test_loader_options(options).shuffle);
  EXPECT_FALSE(test_loader_options(options).drop_last);
  EXPECT_EQ(test_loader_options(options).workers, 7);
  EXPECT_EQ(test_loader_options(options).buffered, 5);
  options.data.no_shuffle = true;
  EXPECT_FALSE(training_loader_options(options).shuffle);
}

TEST(EngineOptions, AskForALogWhereTheEnvironmentWantsOne) {
  const auto logs_at = [](const char* level) {
    ::setenv("PENSTOCK_LOG_LEVEL", level, 1);
    const bool found = logs({});
    EXPECT_EQ(static_cast<bool>(training_options({}).runtime.log), found) << level;
    ::unsetenv("PENSTOCK_LOG_LEVEL");
    return found;
  };
  EXPECT_FALSE(logs({}));
  EXPECT_FALSE(logs_at(""));
  EXPECT_FALSE(logs_at("off"));
  EXPECT_TRUE(logs_at("error"));
  EXPECT_TRUE(logs_at("loud")) << "which the engine refuses";
  EXPECT_TRUE(logs({.debug = true}));
}

}  // namespace
}  // namespace trainer
