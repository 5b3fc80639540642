// These tests check that a parameter that layers of several stages share has one owner, and that a
// training has the bits of a single stage.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "penstock/inference_model.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t updates = 4;
constexpr int batch = 3, accumulation = 4;

/// Returns a model in which the embedding and the classifier share a weight, and two hidden layers
/// share another one.
Model word_model() {
  Model model("words", 5);
  const Value ids = model.input("ids", {4}, DType::i64), labels = model.labels();
  Value x;
  {
    const auto block = model.block("B1");
    x = model.reshape(model.embedding("words", ids, 11, 6), {24});
    x = model.linear("mix", x, 6);
  }
  {
    const auto block = model.block("B2");
    x = model.tanh(model.linear("hidden", x, 6));
  }
  {
    const auto block = model.block("B3");
    x = model.tanh(model.linear(x, model.parameter("hidden.weight")));
  }
  const auto block = model.block("B4");
  x = model.linear(x, model.parameter("words.weight"));
  model.output("logits", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

/// Returns a tensor of `shape` whose elements stand for words, and are from 0 to 10.
Tensor words(const Shape& shape, std::int64_t stride) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < shape.elements(); ++i) numbers.push_back(i * i * stride % 11);
  return {shape, std::span<const std::int64_t>(numbers)};
}

std::vector<Tensor> sentences(int replicas) {
  const std::int64_t samples = batch * accumulation * updates * replicas;
  return {words({samples, 4}, 3), words({samples}, 5)};
}

Options options(const char* stages, std::vector<int> ipus) {
  Options options{.batch_size = batch};
  options.topology.stages = parse_stages(stages);
  options.topology.ipus = std::move(ipus);
  options.training.gradient_accumulation = accumulation;
  return options;
}

struct Placement {
  const char* stages;
  std::vector<int> ipus;
};

const Placement one_stage{"B1,B2,B3,B4", {0}};
const Placement placements[] = {{"B1,B2|B3,B4", {0, 1}},
                                {"B1|B2,B3|B4", {0, 1, 0}},
                                {"B1|B2|B3|B4", {0, 1, 2, 3}},
                                {"B1|B2|B3|B4", {0, 0, 0, 0}}};

/// A Condition is a way to train. The result must not depend on how the model is cut under it.
struct Condition {
  const char* name;
  void (*set)(Options&, Optimizer&);
};

const Condition conditions[] = {
    {"plain", [](Options&, Optimizer&) {}},
    {"clipped", [](Options&, Optimizer& optimizer) { optimizer.max_grad_norm = 0.1; }},
    {"replicated", [](Options& options, Optimizer&) { options.topology.replication_factor = 2; }},
    {"scaled", [](Options&, Optimizer& optimizer) { optimizer.loss_scaling = 100; }},
    {"recomputed", [](Options& options, Optimizer&) { options.training.recompute = true; }},
    {"with two threads per IPU",
     [](Options& options, Optimizer&) { options.topology.threads_per_ipu = 2; }},
    {"with running means",
     [](Options& options, Optimizer&) {
       options.training.reduction_strategy = ReductionStrategy::running;
     }},
    {"offloaded, clipped, three replicas, two updates a call",
     [](Options& options, Optimizer& optimizer) {
       options.training.offload.optimizer_state.on = true;
       options.topology.replication_factor = 3;
       options.device_iterations = 2;
       optimizer.max_grad_norm = 0.1;
     }},
};

TrainingRun run(const Placement& placement, const Condition& condition,
                PipelineSchedule schedule = PipelineSchedule::grouped) {
  Options settings = options(placement.stages, placement.ipus);
  settings.topology.schedule = schedule;
  Optimizer optimizer = AdamW{.learning_rate = 0.05};
  condition.set(settings, optimizer);
  return train(word_model(), settings, optimizer, sentences(settings.topology.replication_factor),
               updates);
}

// A8 of docs/reference.md: under every condition, every cut and schedule gives the bits of one
// stage.
TEST(TiedWeights, GiveTheBitsOfOneStage) {
  for (const Condition& condition : conditions) {
    const TrainingRun reference = run(one_stage, condition);
    for (const Placement& placement : placements)
      for (const auto schedule :
           {PipelineSchedule::grouped, PipelineSchedule::interleaved, PipelineSchedule::sequential})
        EXPECT_EQ(first_difference(run(placement, condition, schedule), reference), "")
            << placement.stages << ", " << to_string(schedule) << ", " << condition.name;
  }
}

/// Returns the samples of update number `number`.
std::vector<Tensor> update_of(std::int64_t number) {
  constexpr std::int64_t rows = batch * accumulation;
  std::vector<Tensor> some;
  for (const Tensor& tensor : sentences(1))
    some.push_back(tensor.rows(number * rows, (number + 1) * rows));
  return some;
}

std::map<std::string, Tensor> weights_of(const Model& model) {
  std::map<std::string, Tensor> weights;
  for (const ParameterInfo& parameter : model.parameters())
    weights[parameter.name] = model.weight(parameter.name);
  return weights;
}

// A clipped gradient has exactly the norm that was asked for. If a shared weight counted in the
// norm once per use or per stage, the clipped gradient would have less.
TEST(TiedWeights, CountOnceInTheNorm) {
  constexpr double max_grad_norm = 0.01;
  const Model model = word_model();
  const auto before = weights_of(model);
  Optimizer optimizer = Sgd{.learning_rate = 1};
  optimizer.max_grad_norm = max_grad_norm;
  TrainingModel(model, options("B1|B2|B3|B4", {}), optimizer).step(update_of(0));
  double squares = 0;
  for (const auto& [name, tensor] : weights_of(model))
    for (std::size_t i = 0; i < tensor.as<float>().size(); ++i)
      squares += std::pow(tensor.as<float>()[i] - before.at(name).as<float>()[i], 2);
  EXPECT_NEAR(std::sqrt(squares), max_grad_norm, 1e-3 * max_grad_norm);
}

TEST(TiedWeights, AreSavedOnceAndGoOnUnderAnotherCut) {
  const TemporaryDirectory directory;
  const std::string weights = (directory / "w").string(), state = (directory / "o").string();
  const Optimizer optimizer = AdamW{.learning_rate = 0.05};
  const Model first = word_model();
  TrainingModel trained(first, options("B1|B2|B3|B4", {}), optimizer);
  trained.step(update_of(0));
  first.save_weights(weights);
  trained.save_optimizer_state(state);
  EXPECT_EQ(trained.optimizer_state().size(), 1 + 2 * first.parameters().size());
  trained.step(update_of(1));

  Model second = word_model();
  second.load_weights(weights);
  TrainingModel resumed(second, options("B1,B2|B3,B4", {}), optimizer);
  resumed.load_optimizer_state(state);
  resumed.step(update_of(1));
  const auto expected = weights_of(first);
  EXPECT_EQ(expected.size(), 5u);
  for (const auto& [name, tensor] : weights_of(second))
    EXPECT_TRUE(same_bits(tensor, expected.at(name))) << name;
}

TEST(TiedWeights, AreTrainedByEveryUse) {
  Model model("m", 1);
  const Value h = model.linear("fc", model.input("x", {2}), 2, false);
  model.loss(
      model.identity_loss(model.linear(h, model.parameter("fc.weight")), LossReduction::sum));
  const Tensor before = model.weight("fc.weight");
  TrainingModel(model, {}, Sgd{.learning_rate = 1}).step({Tensor({1, 2}, {1.f, 2.f})});
  const Tensor after = model.weight("fc.weight");
  // For loss = sum(W·(W·x)), dloss/dW[i][j] is (W·x)[j] + sum_k W[k][i]·x[j].
  const auto w = before.as<float>(), now = after.as<float>();
  const float x[2] = {1, 2};
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      const float forward = w[2 * j] * x[0] + w[2 * j + 1] * x[1], back = w[i] + w[2 + i];
      EXPECT_NEAR(now[2 * i + j], w[2 * i + j] - (forward + back * x[j]), 1e-5) << i << j;
    }
}

TEST(TiedWeights, AreCountedOnceAndReachInferenceInEveryStage) {
  const Model model = word_model();
  TrainingModel training(model, options("B1|B2|B3|B4", {0, 1, 2, 3}), Sgd{.learning_rate = 0.5});
  std::int64_t parameters = 0;
  for (const StagePlanReport& stage : training.compile_report().stages)
    parameters += stage.parameters;
  EXPECT_EQ(parameters, 11 * 6 + 24 * 6 + 6 + 6 * 6 + 6);

  InferenceModel pipelined(model, options("B1|B2|B3|B4", {0, 1, 2, 3})),
      single(model, options("B1,B2,B3,B4", {0}));
  const auto inputs = sentences(1);
  const std::vector<Tensor> some{inputs[0].rows(0, batch)};
  const auto logits = [&](InferenceModel& inference) { return inference.run(some).outputs[0]; };
  const Tensor first = logits(pipelined).tensor;
  training.step({inputs[0].rows(0, batch * accumulation), inputs[1].rows(0, batch * accumulation)});
  const Tensor second = logits(pipelined).tensor;
  EXPECT_FALSE(same_bits(first, second));
  EXPECT_TRUE(same_bits(second, logits(single).tensor));
}

}  // namespace
}  // namespace penstock::testing
