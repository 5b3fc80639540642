// These tests check what training does with frozen parameters: nothing behind them is computed, and
// their weights stay, while all others get the bits that they get anyway.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/networks/networks.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t updates = 3;
constexpr int batch = 12, accumulation = 4;

const std::vector<Tensor>& digits() {
  static const std::vector<Tensor> samples = all_samples(
      *first_samples(read_idx(data_path("mnist"), Split::train, {.mean = 0.1307, .std = 0.3081}),
                     batch * accumulation * 2 * updates));
  return samples;
}

/// Returns the tutorials' network. The parameters of all layers but the last are frozen.
Model frozen_body() {
  Model model = networks::find_network("mnist-cnn").build(3);
  for (const char* layer : {"layer1.*", "layer2.*", "layer3.*"}) model.freeze(layer);
  return model;
}

Options staged(const char* stages) {
  Options options{.batch_size = batch};
  options.topology.stages = parse_stages(stages);
  options.topology.threads_per_ipu = 1;
  options.training.gradient_accumulation = accumulation;
  return options;
}

constexpr const char* cuts[] = {"B1,B2,B3,B4", "B1,B2|B3,B4", "B1|B2|B3|B4"};

Optimizer adam() {
  return AdamW{.learning_rate = 0.01, .weight_decay = 0.1};
}

TrainingRun run(const Model& model, const Options& options, const Optimizer& optimizer = adam()) {
  return train(model, options, optimizer, digits(), updates);
}

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

TEST(Frozen, BodiesHaveNoBackwardSendNoGradientAndKeepNoState) {
  const TrainingRun frozen = run(frozen_body(), staged(cuts[2]));
  for (const StageReport& stage : frozen.stages) {
    const bool trains = stage.stage == 3;
    EXPECT_EQ(stage.backward_runs, trains ? accumulation * updates : 0) << stage.stage;
    EXPECT_EQ(stage.optimizer_bytes_on_ipu > 0, trains) << stage.stage;
  }
  std::vector<std::string> names;
  for (const NamedTensor& state : frozen.state) names.push_back(state.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"step", "layer4.weight.exp_avg", "layer4.weight.exp_avg_sq",
                                      "layer4.bias.exp_avg", "layer4.bias.exp_avg_sq"}));

  const TrainingModel training(frozen_body(), staged(cuts[2]), adam());
  const CompileReport& report = training.compile_report();
  for (const StagePlanReport& stage : report.stages)
    EXPECT_EQ(stage.backward_flops > 0, stage.stage == 3) << stage.stage;
  for (const EdgePlanReport& edge : report.edges) EXPECT_FALSE(edge.gradient) << edge.tensor;
  for (const std::string& warning : report.warnings)
    EXPECT_EQ(warning.find("is not trained"), warning.npos) << warning;
}

TEST(Frozen, BodiesSendNothingBackInBytes) {
  const TrainingRun frozen = run(frozen_body(), staged(cuts[2]));
  const TrainingModel training(frozen_body(), staged(cuts[2]), adam());
  std::vector<std::int64_t> forward(4);
  for (const EdgePlanReport& edge : training.compile_report().edges)
    if (edge.from >= 0) forward[static_cast<std::size_t>(edge.from)] += edge.bytes;
  for (const StageReport& stage : frozen.stages)
    EXPECT_EQ(stage.sent_bytes,
              forward[static_cast<std::size_t>(stage.stage)] * accumulation * updates)
        << stage.stage;
}

// The memory of a stage falls by its gradient sums, its optimizer's state and what only its
// backward needs. What the stage takes when it runs falls by what the report says.
TEST(Frozen, BodiesTakeLessMemoryAsTheReportSays) {
  const Model whole = networks::find_network("mnist-cnn").build(3);
  const TrainingModel before(whole, staged(cuts[2]), adam());
  const TrainingModel after(frozen_body(), staged(cuts[2]), adam());
  const auto used_before = run(whole, staged(cuts[2])).stages;
  const auto used_after = run(frozen_body(), staged(cuts[2])).stages;
  for (std::size_t i = 0; i < 3; ++i) {
    const StagePlanReport& planned = before.compile_report().stages[i];
    const std::int64_t weights = 4 * planned.parameters;
    const std::int64_t saved = planned.bytes - after.compile_report().stages[i].bytes;
    EXPECT_GE(saved, weights) << "there are no gradient sums";
    EXPECT_EQ(used_after[i].optimizer_bytes_on_ipu, 0);
    EXPECT_EQ(used_before[i].optimizer_bytes_on_ipu, 2 * weights);
    EXPECT_EQ(used_before[i].peak_bytes - used_after[i].peak_bytes, saved + 2 * weights)
        << "stage " << i;
  }
}

TEST(Frozen, ParametersAreNotInTheHostStore) {
  constexpr Offload whole_class{.on = true, .minimum_bytes = 0};
  Options options = staged(cuts[2]);
  options.training.offload.optimizer_state = options.training.offload.accumulators = whole_class;
  for (const StageReport& stage : run(frozen_body(), options).stages) {
    EXPECT_EQ(stage.optimizer_state.bytes > 0, stage.stage == 3) << stage.stage;
    EXPECT_EQ(stage.accumulators.bytes > 0, stage.stage == 3) << stage.stage;
  }
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
            "model \"mnist-cnn\": the loss does not depend on any parameter that is trained; "
            "unfreeze one of those that it depends on");
  model.unfreeze("layer4.*");
  TrainingModel second(model, staged(cuts[1]), adam());
  const Tensor kept = model.weight("layer1.conv.weight"), last = model.weight("layer4.weight");
  second.step(rows(batch * accumulation));
  second.step(rows(batch + 1));
  EXPECT_TRUE(same_bits(model.weight("layer1.conv.weight"), kept));
  EXPECT_FALSE(same_bits(model.weight("layer4.weight"), last));
}

TEST(Frozen, AnchorsOnGradientsBehindThemAreRefused) {
  Options options = staged(cuts[0]);
  options.output.anchors = {{.name = "g", .tensor = "layer1.conv.weight", .gradient = true}};
  EXPECT_NE(refusal(Errc::invalid_argument, [&] { TrainingModel(frozen_body(), options, adam()); })
                .find("which depends on no parameter that is trained"),
            std::string::npos);
}

/// Returns a network of two blocks that normalizes, whose first block is there to be frozen.
Model normalizing() {
  Model model("normalizing", 4);
  Value x = model.input("x", {3, 4, 4});
  const Value labels = model.labels();
  {
    const auto block = model.block("B1");
    x = model.conv2d("body.conv", x, {.out_channels = 4, .kernel = 3});
    x = model.relu(model.batch_norm2d("body.norm", x));
  }
  const auto block = model.block("B2");
  x = model.linear("head", model.flatten(x), 5);
  model.output("y", x);
  model.loss(model.cross_entropy(x, labels));
  model.set_weight("body.norm.running_mean", Tensor({4}, {0.1f, -0.2f, 0.3f, 0.f}));
  model.set_weight("body.norm.running_var", Tensor({4}, {0.5f, 2.f, 1.f, 0.1f}));
  return model;
}

std::vector<Tensor> images(std::int64_t count) {
  std::vector<float> pixels;
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count * 48; ++i)
    pixels.push_back(static_cast<float>((i * i + 7 * i) % 23) / 11.0f - 1);
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(i * 3 % 5);
  return {Tensor({count, 3, 4, 4}, pixels), Tensor({count}, numbers)};
}

TEST(FrozenStatistics, AreUsedAsInInferenceAndStay) {
  for (const char* cut : {"B1,B2", "B1|B2"}) {
    Options options{.batch_size = 3};
    options.topology.stages = parse_stages(cut);
    options.training.gradient_accumulation = 2;
    options.output.mode = OutputMode::all;
    Model model = normalizing();
    model.freeze_statistics("body.*");
    TrainingModel training(model, options, Sgd{.learning_rate = 0.1});
    const Tensor expected =
        InferenceModel(normalizing(), options).run({images(6)[0].rows(0, 3)}).output("y");
    const StepResult result = training.step(images(6));
    EXPECT_TRUE(same_bits(result.output("y").rows(0, 3), expected)) << cut;
    for (const char* name : {"body.norm.running_mean", "body.norm.running_var"})
      EXPECT_TRUE(same_bits(model.weight(name), normalizing().weight(name))) << name;
    for (const char* name : {"body.norm.weight", "body.conv.weight", "head.weight"})
      EXPECT_FALSE(same_bits(model.weight(name), normalizing().weight(name))) << name;
    EXPECT_TRUE(same_bits(training.buffer("body.norm.running_mean", 0),
                          model.weight("body.norm.running_mean")));
  }
}

// The gradient of x is dx = dy·weight/√(var + eps). There is one value per channel, of which no
// statistics could be made.
TEST(FrozenStatistics, CountAsConstantsInTheGradient) {
  Model model("m");
  const Value x = model.parameter("x", {2, 1, 1}, Initializer::constant(0.5));
  const Value y = model.batch_norm2d("norm", model.add(model.input("data", {2, 1, 1}), x));
  model.loss(model.identity_loss(y, LossReduction::sum));
  model.set_weight("norm.running_var", Tensor({2}, {4.f, 0.25f}));
  model.set_weight("norm.weight", Tensor({2}, {3.f, 1.f}));
  model.freeze("norm.*");
  model.freeze_statistics("norm.running_mean");
  TrainingModel(model, {}, Sgd{.learning_rate = 1}).step({Tensor({1, 2, 1, 1}, {7.f, 9.f})});
  const Tensor moved = model.weight("x");
  EXPECT_NEAR(moved.as<float>()[0], 0.5 - 3 / 2.0, 1e-4);
  EXPECT_NEAR(moved.as<float>()[1], 0.5 - 1 / 0.5, 1e-4);
}

TEST(FrozenStatistics, OfAFrozenBodyLeaveItWithoutABackward) {
  Model model = normalizing();
  model.freeze("body.*");
  model.freeze_statistics("body.*");
  Options options{.batch_size = 3};
  TrainingModel training(model, options, Sgd{.learning_rate = 0.1});
  training.step(images(3));
  EXPECT_EQ(training.stage_reports()[0].backward_runs, 0u);
  EXPECT_EQ(training.stage_reports()[1].backward_runs, 1u);
}

TEST(StopGradient, PassesValuesOnAndNoGradientBack) {
  const auto build = [](bool stopped) {
    Model model("m", 2);
    const Value x = model.input("x", {3});
    Value h = model.linear("before", x, 3);
    if (stopped) h = model.stop_gradient(h);
    const Value y = model.linear("behind", h, 2);
    model.output("y", y);
    model.loss(model.identity_loss(y));
    return model;
  };
  const Model stopped = build(true), frozen = [&] {
    Model model = build(false);
    model.freeze("before.*");
    return model;
  }();
  const std::vector<Tensor> x{Tensor({1, 3}, {1.f, -2.f, 0.5f})};
  for (const Model& model : {stopped, frozen}) {
    TrainingModel(model, {}, Sgd{.learning_rate = 0.5}).step(x);
    EXPECT_TRUE(same_bits(model.weight("before.weight"), build(false).weight("before.weight")));
  }
  for (const ParameterInfo& parameter : stopped.parameters())
    EXPECT_TRUE(same_bits(stopped.weight(parameter.name), frozen.weight(parameter.name)))
        << parameter.name;
  EXPECT_TRUE(same_bits(InferenceModel(stopped, {}).run(x).output("y"),
                        InferenceModel(frozen, {}).run(x).output("y")));
}

}  // namespace
}  // namespace penstock::testing
