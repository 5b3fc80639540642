// 2.6 of docs/reference.md: a model goes on after a call of it has failed, whichever of its plans
// has failed, and whichever plan is on the IPUs afterwards.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/short_call_models.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

std::vector<Tensor> bad_samples(std::int64_t count) {
  return samples(count, 9);
}

const Adam rule{.learning_rate = 0.1};

/// Returns 0, which means no limit, and a limit with which the plan for full calls of `model` takes
/// all memory of the IPU.
template <class AModel>
std::vector<std::int64_t> limits(const AModel& model) {
  return {0, model.stage_reports().at(0).peak_bytes};
}

template <class AModel>
using Calls = std::map<std::string, std::function<void(AModel&)>>;

TEST(FailedModels, R2_6_OfInferenceGoOn) {
  const Calls<InferenceModel> calls{
      {"short", [](auto& model) { model.run(samples(remainder)); }},
      {"another short", [](auto& model) { model.run(samples(remainder - 1)); }},
      {"full", [](auto& model) { model.run(samples(full)); }},
      {"attach", [](auto& model) { model.attach(); }},
      {"detach", [](auto& model) { model.detach(); }}};
  for (const std::int64_t limit : limits(InferenceModel(network(), with_limit(0)))) {
    for (const std::int64_t count : {full, remainder}) {
      SCOPED_TRACE(std::to_string(count) + " samples, limit " + std::to_string(limit));
      InferenceModel model(network(), with_limit(limit));
      const Tensor of_full = model.run(samples(full)).output("loss");
      const Tensor of_short = model.run(samples(remainder)).output("loss");
      for (const auto& [name, call] : calls) {
        EXPECT_NE(refusal(Errc::stage_failed, [&] { model.run(bad_samples(count)); }), "accepted");
        EXPECT_EQ(model.stage_reports().empty(), limit > 0 && count == remainder);
        call(model);
        EXPECT_TRUE(same_bits(model.run(samples(full)).output("loss"), of_full)) << name;
        EXPECT_TRUE(same_bits(model.run(samples(remainder)).output("loss"), of_short)) << name;
      }
    }
  }
}

/// A Training is a model and what trains it.
struct Training {
  explicit Training(const Options& options) : model(weights, options, rule) {}

  Model weights = network();
  TrainingModel model;
};

void expect_same(const Training& a, const Training& b) {
  EXPECT_EQ(a.model.updates(), b.model.updates());
  EXPECT_TRUE(same_bits(a.weights.weight("fc.weight"), b.weights.weight("fc.weight")));
  const std::string mean = "norm.running_mean";
  EXPECT_TRUE(same_bits(a.model.buffer(mean, 0), b.model.buffer(mean, 0)));
  expect_same_state(a.model.optimizer_state(), b.model.optimizer_state());
}

TEST(FailedModels, R2_6_OfTrainingGoOnAsIfTheyHadNotSeenTheStep) {
  const Calls<TrainingModel> calls{
      {"short", [](auto& model) { model.step(samples(remainder)); }},
      {"another short", [](auto& model) { model.step(samples(remainder - 1)); }},
      {"full", [](auto& model) { model.step(samples(full)); }},
      {"set_optimizer", [](auto& model) { model.set_optimizer(rule); }},
      {"optimizer_state", [](auto& model) { model.optimizer_state(); }},
      {"set_optimizer_state",
       [](auto& model) { model.set_optimizer_state(model.optimizer_state()); }},
      {"attach", [](auto& model) { model.attach(); }},
      {"detach", [](auto& model) { model.detach(); }}};
  for (const std::int64_t limit : limits(TrainingModel(network(), with_limit(0), rule))) {
    for (const std::int64_t count : {full, remainder}) {
      SCOPED_TRACE(std::to_string(count) + " samples, limit " + std::to_string(limit));
      Training failing(with_limit(limit)), undisturbed(with_limit(limit));
      for (const auto& [name, call] : calls) {
        SCOPED_TRACE(name);
        for (Training* const one : {&failing, &undisturbed}) {
          one->model.step(samples(full));
          one->model.step(samples(remainder));
        }
        EXPECT_NE(refusal(Errc::stage_failed, [&] { failing.model.step(bad_samples(count)); }),
                  "accepted");
        for (Training* const one : {&failing, &undisturbed}) call(one->model);
        expect_same(failing, undisturbed);
      }
    }
  }
}

// The plan of full steps is attached by profile() while the plan of short steps, which has failed,
// has the weights.
TEST(FailedModels, HandTheirWeightsToAPlanThatIsAttachedMeanwhile) {
  Options options = with_limit(0);
  options.runtime.trace = true;
  Training failing(options), undisturbed(options);
  for (Training* const one : {&failing, &undisturbed}) {
    one->model.step(samples(full));
    one->model.detach();
  }
  EXPECT_NE(refusal(Errc::stage_failed, [&] { failing.model.step(bad_samples(remainder)); }),
            "accepted");
  failing.model.profile();
  for (Training* const one : {&failing, &undisturbed}) one->model.step(samples(full));
  expect_same(failing, undisturbed);
}

TEST(FailedModels, AreDetachedByTheHostAfterCallsThatNeedNoIpus) {
  Training failing(with_limit(0)), undisturbed(with_limit(0));
  for (Training* const one : {&failing, &undisturbed}) one->model.step(samples(full));
  EXPECT_NE(refusal(Errc::stage_failed, [&] { failing.model.step(bad_samples(full)); }),
            "accepted");
  EXPECT_FALSE(failing.model.optimizer_state().empty());
  for (Training* const one : {&failing, &undisturbed}) one->model.detach();
  EXPECT_FALSE(failing.model.attached());
  expect_same(failing, undisturbed);
  for (Training* const one : {&failing, &undisturbed}) one->model.step(samples(full));
  expect_same(failing, undisturbed);
  failing.model.detach();
  EXPECT_NE(refusal(Errc::invalid_argument, [&] { failing.model.detach(); }), "accepted");
}

TEST(FailedModels, BeginFromWeightsThatTheHostHasSetSince) {
  Training failing(with_limit(0)), undisturbed(with_limit(0));
  for (Training* const one : {&failing, &undisturbed}) one->model.step(samples(full));
  EXPECT_NE(refusal(Errc::stage_failed, [&] { failing.model.step(bad_samples(full)); }),
            "accepted");
  for (Training* const one : {&failing, &undisturbed}) {
    one->weights.set_weight("fc.bias", Tensor({3}, {1.f, 2.f, 3.f}));
    one->model.buffer("norm.running_mean", 0);
    one->model.step(samples(full));
  }
  expect_same(failing, undisturbed);
}

TEST(FailedModels, R2_6_StillAnswerAndLeaveTheirModelUsable) {
  Model weights = network();
  Options options = with_limit(0);
  options.runtime.trace = true;
  TrainingModel model(weights, options, Sgd{.learning_rate = 0.5});
  InferenceModel serving(weights, options);
  model.step(samples(full));
  EXPECT_NE(refusal(Errc::stage_failed, [&] { model.step(bad_samples(full)); }), "accepted");
  EXPECT_NE(refusal(Errc::stage_failed, [&] { serving.run(bad_samples(full)); }), "accepted");
  EXPECT_EQ(model.stage_reports().size(), 1U);
  EXPECT_EQ(serving.stage_reports().size(), 1U);
  EXPECT_FALSE(model.take_trace().empty());
  serving.take_trace();
  EXPECT_EQ(model.learning_rate(), 0.5);
  EXPECT_TRUE(model.attached());
  EXPECT_EQ(model.outline().outputs.size(), 1U);
  EXPECT_GT(model.last_call().seconds, 0);
  const Tensor bias({3}, {1.f, 2.f, 3.f});
  weights.set_weight("fc.bias", bias);
  EXPECT_TRUE(same_bits(weights.clone().weight("fc.bias"), bias));
  TrainingModel next(weights, options);
  next.step(samples(full));
  EXPECT_EQ(next.updates(), 1U);
}

// A short step of five micro-batches divides gradients by more than a full step of four does. Here
// the inverse of the divisor is 0 in f32, so that the short step is refused.
TEST(FailedModels, R2_6_AreThoseThatFailedNotThoseWhoseShortStepIsRefused) {
  const Model weights = network();
  Options options = with_limit(0);
  options.training.gradient_accumulation = 4;
  options.device_iterations = 2;
  Optimizer optimizer = Sgd{.learning_rate = 0.1};
  optimizer.mark_as_variable("loss_scaling");
  TrainingModel model(weights, options, optimizer);
  constexpr std::int64_t update = 4 * full, five_of_two = 10;
  model.step(samples(update));
  optimizer.loss_scaling = std::ldexp(1.0, 124);
  model.set_optimizer(optimizer);
  for (const std::int64_t count : {five_of_two, update + five_of_two})
    EXPECT_NE(refusal(Errc::invalid_argument, [&] { model.step(samples(count)); }), "accepted");
  EXPECT_EQ(model.updates(), 1U) << "nothing has changed";
  optimizer.loss_scaling = 1;
  model.set_optimizer(optimizer);
  model.step(samples(update + five_of_two));
  EXPECT_EQ(model.updates(), 3U);
}

TEST(FailedModels, F15_AreThoseThatFailedNotThoseThatCannotBeDetached) {
  Model weights("wide", 3);
  const Value x = weights.linear("fc", weights.input("x", {400}), 3);
  weights.loss(weights.cross_entropy(x, weights.labels()));
  for (const std::int64_t count : {full, remainder}) {
    const Tensor before = weights.weight("fc.weight");
    TrainingModel model(weights, with_limit(0), Sgd{.learning_rate = 0.1});
    model.step({uniform({count, 400}, 1), samples(count)[1]});
    {
      const NoBlocksFrom none(4000);
      EXPECT_NE(refusal(Errc::out_of_memory, [&] { model.detach(); }), "accepted");
    }
    EXPECT_TRUE(model.attached());
    EXPECT_FALSE(same_bits(weights.weight("fc.weight"), before));
  }
}

}  // namespace
}  // namespace penstock::testing
