// These tests check that training leaves frozen parameters as they are, and that all others get the
// bits that they get anyway.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/e2e/frozen_body.hpp"
#include "tests/support/reference_file.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

/// Returns the name of the first weight, of those that `frozen` says, that is not in `run` what it
/// was at first.
std::string first_change(const TrainingRun& run, bool frozen = true) {
  const Model untrained = frozen_body();
  for (const ParameterInfo& parameter : untrained.parameters())
    if (parameter.frozen == frozen &&
        !same_bits(run.weights.at(parameter.name), untrained.weight(parameter.name)))
      return parameter.name;
  return "";
}

/// A Condition is a way to train, under which frozen weights stay and cuts change no bit.
struct Condition {
  const char* name;
  void (*set)(Options&, Optimizer&);
};

const Condition conditions[] = {
    {"plain", [](Options&, Optimizer&) {}},
    {"interleaved", [](Options& options,
                       Optimizer&) { options.topology.schedule = PipelineSchedule::interleaved; }},
    {"sequential", [](Options& options,
                      Optimizer&) { options.topology.schedule = PipelineSchedule::sequential; }},
    {"sharded",
     [](Options& options, Optimizer&) { options.topology.strategy = Strategy::sharded; }},
    {"clipped", [](Options&, Optimizer& optimizer) { optimizer.max_grad_norm = 0.1; }},
    {"replicated, with a divided state",
     [](Options& options, Optimizer&) {
       options.topology.replication_factor = 2;
       options.training.sharding.optimizer_state = {.on = true, .minimum_elements = 2};
     }},
    {"recomputed", [](Options& options, Optimizer&) { options.training.recompute = true; }},
    {"all offloaded",
     [](Options& options, Optimizer&) {
       constexpr Offload whole_class{.on = true, .minimum_bytes = 0};
       options.training.offload = {whole_class, whole_class, whole_class, whole_class};
     }},
    {"two updates a call", [](Options& options, Optimizer&) { options.device_iterations = 2; }},
};

TEST(Frozen, WeightsStayAndCutsChangeNoBit) {
  for (const Condition& condition : conditions) {
    Options options = staged(cuts[0]);
    Optimizer optimizer = adam();
    condition.set(options, optimizer);
    const TrainingRun single = run(frozen_body(), options, optimizer);
    EXPECT_EQ(first_change(single), "") << condition.name;
    EXPECT_EQ(first_change(single, false), "layer4.weight") << "the last layer is trained";
    for (const char* cut : {cuts[1], cuts[2]}) {
      options.topology.stages = parse_stages(cut);
      EXPECT_EQ(first_difference(run(frozen_body(), options, optimizer), single), "")
          << condition.name << ", " << cut;
    }
  }
}

// A learning rate of 0 keeps weights, too, but computes their gradients.
TEST(Frozen, LayersBehindAreTrainedAsIfTheBodyHadALearningRateOfZero) {
  const Model model = networks::find_network("mnist-cnn").build(3);
  Optimizer optimizer = adam();
  optimizer.groups = {{.parameters = {}, .settings = AdamW{.learning_rate = 0}}};
  for (const ParameterInfo& parameter : frozen_body().parameters())
    if (parameter.frozen) optimizer.groups[0].parameters.push_back(parameter.name);
  const TrainingRun expected = run(model, staged(cuts[2]), optimizer);
  const TrainingRun frozen = run(frozen_body(), staged(cuts[2]));
  EXPECT_EQ(frozen.losses, expected.losses);
  for (const auto& [name, tensor] : expected.weights)
    EXPECT_TRUE(same_bits(frozen.weights.at(name), tensor)) << name;
}

TEST(Frozen, GroupsOfTheOptimizerMayNameFrozenParameters) {
  Optimizer optimizer = adam();
  optimizer.groups = {{.parameters = {"layer1.conv.bias", "layer4.bias"},
                       .settings = AdamW{.learning_rate = 0.01, .weight_decay = 0}}};
  EXPECT_EQ(first_change(run(frozen_body(), staged(cuts[1]), optimizer)), "");
}

// The gradient goes through the frozen layers, so that the first layer learns.
TEST(Frozen, LayersInTheMiddleAreAsIfTheyHadALearningRateOfZero) {
  Model model = networks::find_network("mnist-cnn").build(3);
  Optimizer optimizer = adam();
  optimizer.groups = {
      {.parameters = {"layer2.conv.weight", "layer2.conv.bias", "layer3.weight", "layer3.bias"},
       .settings = AdamW{.learning_rate = 0}}};
  const TrainingRun expected = run(model.clone(), staged(cuts[0]), optimizer);
  model.freeze("layer2.*");
  model.freeze("layer3.*");
  for (const char* cut : cuts) {
    const TrainingRun frozen = run(model.clone(), staged(cut));
    for (const auto& [name, tensor] : expected.weights)
      EXPECT_TRUE(same_bits(frozen.weights.at(name), tensor)) << name << ", " << cut;
    for (const StageReport& stage : frozen.stages) EXPECT_GT(stage.backward_runs, 0u);
  }
}

TEST(Frozen, SetIsTakenWhenTheTrainingModelIsMade) {
  Model model = networks::find_network("mnist-cnn").build(3);
  const auto rows = [](std::int64_t count) {
    return std::vector<Tensor>{digits()[0].rows(0, count), digits()[1].rows(0, count)};
  };
  TrainingModel first(model, staged(cuts[1]), adam());
  model.freeze("layer*");
  const Tensor before = model.weight("layer1.conv.weight");
  first.step(rows(batch * accumulation));
  const Tensor trained = model.weight("layer1.conv.weight");
  EXPECT_FALSE(same_bits(trained, before));
  first.step(rows(batch + 1));  // A plan for fewer samples trains the same parameters.
  EXPECT_FALSE(same_bits(model.weight("layer1.conv.weight"), trained));
  first.set_optimizer(adam());

  EXPECT_EQ(refusal(Errc::invalid_model, [&] { TrainingModel(model, staged(cuts[1]), adam()); }),
            "model \"mnist-cnn\": the loss depends on no parameter that is trained: "
            "\"layer1.conv.weight\" is frozen, or Objective::trains leaves it out; unfreeze() it, "
            "or add it there");
  model.unfreeze("layer4.*");
  TrainingModel second(model, staged(cuts[1]), adam());
  const Tensor kept = model.weight("layer1.conv.weight"), last = model.weight("layer4.weight");
  second.step(rows(batch * accumulation));
  second.step(rows(batch + 1));
  EXPECT_TRUE(same_bits(model.weight("layer1.conv.weight"), kept));
  EXPECT_FALSE(same_bits(model.weight("layer4.weight"), last));

  Optimizer faster = adam();
  faster.set_learning_rate(0.5);
  second.set_optimizer(faster);
  const Tensor slow = model.weight("layer4.weight");
  second.step(rows(batch * accumulation));
  EXPECT_GT(relative_difference(model.weight("layer4.weight"), slow), 0.1)
      << "the new learning rate counts";
  EXPECT_TRUE(same_bits(model.weight("layer1.conv.weight"), kept))
      << "a learning rate unfreezes nothing";
}

TEST(Frozen, AnchorsOnGradientsBehindThemAreRefused) {
  Options options = staged(cuts[0]);
  options.output.anchors = {{.name = "g", .tensor = "layer1.conv.weight", .gradient = true}};
  EXPECT_NE(refusal(Errc::invalid_argument, [&] { TrainingModel(frozen_body(), options, adam()); })
                .find("which is frozen, or Objective::trains leaves it out"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock::testing
