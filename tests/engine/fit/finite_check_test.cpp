#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/fit_callbacks.hpp"
#include "tests/engine/fit/scaling.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock {
namespace {

using testing::numbers;
using testing::refusal;
using testing::Scaling;

/// Returns a model of w·x, or of what `behind` makes of it. Its loss is the mean.
Model network(const std::function<Value(Model&, Value)>& behind) {
  Model model("finite");
  const Value y = model.linear("fc", model.input("x", {1}), 1, false);
  model.loss(model.identity_loss(behind(model, y), LossReduction::mean));
  model.set_weight("fc.weight", Tensor({1, 1}, {1}));
  return model;
}

Value same(Model&, Value y) {
  return y;
}

/// Returns options of steps of `iterations` updates, each of two micro-batches of two samples.
Options options_of(int iterations, int replicas = 1) {
  Options options{.batch_size = 2, .device_iterations = iterations};
  options.training.gradient_accumulation = 2;
  options.topology.replication_factor = replicas;
  return options;
}

DataLoader data_of(const std::vector<float>& x, const Options& options) {
  const auto samples = static_cast<std::int64_t>(x.size());
  return {tensor_dataset({Tensor({samples, 1}, std::span<const float>(x))}),
          options,
          {.mode = LoaderMode::sync, .workers = 0}};
}

/// Returns how a training of `model` on `x` is refused, or "accepted".
std::string ended(const Model& model, const Options& options, const Optimizer& optimizer,
                  const std::vector<float>& x, const FiniteCheck& check = {}) {
  TrainingModel training(model, options, optimizer);
  DataLoader data = data_of(x, options);
  return refusal(Errc::invalid_data,
                 [&] { fit(training, data, {.callbacks = {stop_when_not_finite(check)}}); });
}

Value logarithm(Model& model, Value y) {
  return model.log(y);
}

TEST(FiniteCheck, NamesTheFirstLayerThatMakesNoNumber) {
  EXPECT_EQ(
      ended(network(logarithm), options_of(1), Sgd{.learning_rate = 0}, {1, 2, 3, 4, 5, 6, 7, -8}),
      "finite check: epoch 1, step 2: the loss is nan; in update 0 of the step, the first "
      "output that is not finite is that of log \"log_1\" in micro-batch 1, which has nan as "
      "element 1");
}

TEST(FiniteCheck, FindsTheMicroBatchOfAReplica) {
  EXPECT_EQ(
      ended(network(logarithm), options_of(2, 2), Sgd{.learning_rate = 0},
            {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0, 15, 16}),
      "finite check: epoch 1, step 1: the loss is -inf; in update 1 of the step, the first "
      "output that is not finite is that of log \"log_1\" in micro-batch 2, which has -inf as "
      "element 1");
}

// The first update moves the weight so far that the next one overflows.
TEST(FiniteCheck, ComputesTheUpdatesBeforeTheOneThatFails) {
  EXPECT_EQ(
      ended(network(same), options_of(2), Sgd{.learning_rate = 1e38}, {1, 2, 1, 2, 300, 1, 1, 1}),
      "finite check: epoch 1, step 1: the loss is -inf; in update 1 of the step, the first "
      "output that is not finite is that of linear \"fc\" in micro-batch 0, which has -inf "
      "as element 0");
}

// The slope of a square root at 0 is infinite.
TEST(FiniteCheck, NamesTheGradientIfTheForwardIsFinite) {
  const Model model = network([](Model& m, Value y) { return m.sqrt(y); });
  EXPECT_EQ(ended(model, options_of(1), Sgd{}, {1, 4, 0, 4}),
            "finite check: epoch 1, step 1: element 0 of \"fc.weight\" is nan; in update 0 of the "
            "step, all outputs are finite, and the first gradient that is not finite is that of "
            "parameter \"fc.weight\" in micro-batch 1, which has nan as element 0");
}

TEST(FiniteCheck, NamesTheOptimizerIfTheGradientIsFinite) {
  EXPECT_EQ(ended(network(same), options_of(1), Sgd{.learning_rate = 3e38}, {1, 2, 3, 4}),
            "finite check: epoch 1, step 1: element 0 of \"fc.weight\" is -inf; in update 0 of the "
            "step, all outputs and gradients are finite, but after the update element 0 of "
            "\"fc.weight\" is -inf");
}

TEST(FiniteCheck, NamesTheSameLayerOnEveryTopology) {
  std::vector<std::string> texts;
  for (const char* stages : {"A,B", "A|B"})
    for (const bool recompute : {false, true}) {
      Model model("finite");
      Value y = model.input("x", {1});
      {
        const auto block = model.block("A");
        y = model.exp(model.linear("fc", y, 1, false));
      }
      const auto block = model.block("B");
      model.loss(model.identity_loss(model.log(model.linear("head", y, 1, false))));
      for (const char* name : {"fc.weight", "head.weight"})
        model.set_weight(name, Tensor({1, 1}, {1}));
      Options options = options_of(2);
      options.topology.stages = parse_stages(stages);
      options.training.recompute = recompute;
      texts.push_back(ended(model, options, Sgd{.learning_rate = 0},
                            {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 89, 3, 14, 15}));
    }
  EXPECT_NE(texts[0].find("in update 1 of the step, the first output that is not finite is that of "
                          "exp \"exp_1\" in micro-batch 0, which has inf as element 0"),
            std::string::npos)
      << texts[0];
  for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
}

// The model's own loss needs an input that the objective of the training does not.
TEST(FiniteCheck, LooksAtTheLossThatIsTrained) {
  Model model("two losses");
  const Value y = model.linear("fc", model.input("x", {1}), 1, false);
  const Value trained = model.identity_loss(model.log(y));
  model.loss(model.identity_loss(model.add(model.input("z", {1}), y)));
  model.set_weight("fc.weight", Tensor({1, 1}, {1}));
  const Options options = options_of(1);
  TrainingModel training(model, options, Sgd{}, {.loss = trained, .outputs = {}});
  DataLoader data = data_of({1, -2, 3, 4}, options);
  const std::string text = refusal(
      Errc::invalid_data, [&] { fit(training, data, {.callbacks = {stop_when_not_finite()}}); });
  EXPECT_NE(text.find("is that of log \"log_1\" in micro-batch 0, which has nan as element 1"),
            std::string::npos)
      << text;
}

/// Returns a model of log(w·(large - small)) with w = 0.25, whose inputs are of one type.
Model differences() {
  Model model("differences");
  const Value large = model.input("large", {1}), small = model.input("small", {1});
  const Value y = model.log(model.linear("fc", model.sub(large, small), 1, false));
  model.loss(model.identity_loss(y, LossReduction::mean));
  model.set_weight("fc.weight", Tensor({1, 1}, {0.25f}));
  return model;
}

// The logarithm of every difference but the last one is finite. If the inputs were exchanged, no
// logarithm would be.
TEST(FiniteCheck, ComputesWithTheFieldsThatTheStepTook) {
  const Tensor large({4, 1}, {5, 6, 7, 3}), small({4, 1}, {1, 2, 3, 3}), more({4, 1}, {0, 0, 0, 0});
  const Options options = options_of(1);
  const std::pair<std::vector<Tensor>, std::vector<std::string>> orders[] = {
      {{large, small, more}, {"large", "small", "more"}},
      {{small, large, more}, {"small", "large", "more"}},
      {{more, small, large}, {"more", "small", "large"}}};
  for (const auto& [tensors, names] : orders) {
    TrainingModel training(differences(), options, Sgd{.learning_rate = 0});
    DataLoader data(tensor_dataset(tensors, names), options,
                    {.mode = LoaderMode::sync, .workers = 0});
    EXPECT_EQ(refusal(Errc::invalid_data,
                      [&] { fit(training, data, {.callbacks = {stop_when_not_finite()}}); }),
              "finite check: epoch 1, step 1: the loss is -inf; in update 0 of the step, the first "
              "output that is not finite is that of log \"log_1\" in micro-batch 1, which has -inf "
              "as element 1");
  }
}

TEST(FiniteCheck, LooksForNoLayerIfNotAsked) {
  EXPECT_EQ(ended(network(logarithm), options_of(1), Sgd{.learning_rate = 0}, {1, 2, 3, -4},
                  {.find_layer = false}),
            "finite check: epoch 1, step 1: the loss is nan; FiniteCheck::find_layer = true finds "
            "the layer");
  EXPECT_EQ(ended(network(same), options_of(1), Sgd{.learning_rate = 3e38}, {1, 2, 3, 4},
                  {.find_layer = false}),
            "finite check: epoch 1, step 1: element 0 of \"fc.weight\" is -inf; "
            "FiniteCheck::find_layer = true finds the layer");
}

TEST(FiniteCheck, LeavesTheModelWithTheWeightsAfterTheStep) {
  const Model model = network(same);
  const Options options = options_of(1);
  TrainingModel training(model, options, Sgd{.learning_rate = 3e38});
  DataLoader data = data_of({1, 2, 3, 4}, options);
  EXPECT_THROW(fit(training, data, {.callbacks = {stop_when_not_finite()}}), Error);
  EXPECT_EQ(training.updates(), 1U);
  EXPECT_EQ(model.weight("fc.weight").item(), -std::numeric_limits<float>::infinity());
}

TEST(FiniteCheck, ChangesNoBitOfAFiniteTraining) {
  std::vector<float> weights;
  for (const bool watched : {false, true}) {
    const Model model = network([](Model& m, Value y) { return m.dropout("drop", y, 0.5); });
    const Options options = options_of(2);
    TrainingModel training(model, options, Adam{.learning_rate = 0.1});
    DataLoader data = data_of({1, 2, 3, 4, 5, 6, 7, 8}, options);
    FitOptions fitting{.epochs = 3};
    if (watched) fitting.callbacks = {stop_when_not_finite()};
    fit(training, data, fitting);
    weights.push_back(model.weight("fc.weight").item());
  }
  EXPECT_EQ(weights[0], weights[1]);
  EXPECT_NE(weights[0], 1);
}

// The masks of a dropout depend on the number of the update, and the loss overflows only where the
// mask keeps a sample. The error names the dropout, which has doubled that sample.
TEST(FiniteCheck, ComputesWithTheSameRandomNumbers) {
  int failed = 0;
  for (int first = 0; first < 8; ++first) {
    std::vector<float> x(32, 1);
    x[static_cast<std::size_t>(4 * first)] = 3e38f;
    const Model model = network([](Model& m, Value y) { return m.dropout("drop", y, 0.5); });
    const std::string text = ended(model, options_of(4), Sgd{.learning_rate = 0}, x);
    if (text == "accepted") continue;
    ++failed;
    EXPECT_NE(text.find("in update " + std::to_string(first % 4) +
                        " of the step, the first output that is not finite is that of dropout "
                        "\"drop\" in micro-batch 0, which has inf as element 0"),
              std::string::npos)
        << text;
  }
  EXPECT_GT(failed, 0);
  EXPECT_LT(failed, 8);
}

TEST(FiniteCheck, ServesOneTrainingAfterTheOther) {
  const FitCallback callback = stop_when_not_finite();
  for (int training_number = 0; training_number < 2; ++training_number) {
    Scaling scaling;
    TrainingModel training(scaling.model, testing::options(), Sgd{.learning_rate = 0});
    DataLoader data = numbers(16);
    EXPECT_EQ(fit(training, data, {.callbacks = {callback}}).epochs.size(), 1U);
  }
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { callback.on_step_begin({}); }),
            "finite check: expected set_training_model to be called before the first step, as "
            "fit() does");
}

// The first training is ended by the check, and the second one by another callback. The host then
// destroys both, and the check's callback must not use what is no longer there.
TEST(FiniteCheck, OutlivesTrainingsThatFail) {
  const FitCallback callback = stop_when_not_finite();
  const FitCallback failing{.on_step_end = [](const StepRecord&, const StepResult&) -> Next {
    throw std::runtime_error("the host's");
  }};
  const std::size_t threads = testing::thread_count();
  {
    const Options options = options_of(1);
    TrainingModel training(network(logarithm), options, Sgd{.learning_rate = 0});
    DataLoader data = data_of({1, 2, 3, -4}, options);
    EXPECT_THROW(fit(training, data, {.callbacks = {callback}}), Error);
  }
  EXPECT_TRUE(testing::threads_fall_to(threads));
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { callback.on_step_begin({}); }),
            "finite check: expected set_training_model to be called before the first step, as "
            "fit() does");
  {
    Scaling scaling;
    TrainingModel training(scaling.model, testing::options(), Sgd{.learning_rate = 0});
    DataLoader data = numbers(16);
    EXPECT_THROW(fit(training, data, {.callbacks = {callback, failing}}), std::runtime_error);
  }
  EXPECT_EQ(callback.on_epoch_end({}), Next::go_on);
  callback.on_step_begin({Tensor({1, 1}, {1})});
  callback.on_fit_end({});
  EXPECT_TRUE(testing::threads_fall_to(threads));
}

}  // namespace
}  // namespace penstock
