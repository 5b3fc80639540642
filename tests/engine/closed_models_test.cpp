// 2.6 of docs/reference.md: a model that has failed is closed for good, whichever of its plans has
// failed, and whichever plan is on the IPUs afterwards.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
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

/// Returns 0, which means no limit, and a limit with which the plan for full calls takes all memory
/// of the IPU.
template <class AModel>
std::vector<std::int64_t> limits() {
  return {0, AModel(network(), with_limit(0)).stage_reports().at(0).peak_bytes};
}

using Calls = std::map<std::string, std::function<void()>>;

void expect_all_closed(const std::string& failure, const Calls& calls) {
  for (const auto& [name, call] : calls)
    EXPECT_EQ(refusal(Errc::closed, call),
              "the model has failed before and cannot go on: " + failure)
        << name;
}

TEST(ClosedModels, R2_6_OfInferenceNeverRunAgain) {
  for (const std::int64_t limit : limits<InferenceModel>()) {
    for (const std::int64_t count : {full, remainder}) {
      SCOPED_TRACE(std::to_string(count) + " samples, limit " + std::to_string(limit));
      InferenceModel model(network(), with_limit(limit));
      for (const std::int64_t fine : {full, remainder}) model.run(samples(fine));
      const auto failure = refusal(Errc::stage_failed, [&] { model.run(bad_samples(count)); });
      EXPECT_EQ(model.stage_reports().empty(), limit > 0 && count == remainder);
      const Calls calls{{"short", [&] { model.run(samples(remainder)); }},
                        {"another short", [&] { model.run(samples(remainder - 1)); }},
                        {"full", [&] { model.run(samples(full)); }},
                        {"attach", [&] { model.attach(); }},
                        {"detach", [&] { model.detach(); }}};
      for (int round = 0; round < 2; ++round) expect_all_closed(failure, calls);
    }
  }
}

TEST(ClosedModels, R2_6_OfTrainingAreReadAndNeverTrainAgain) {
  for (const std::int64_t limit : limits<TrainingModel>()) {
    for (const std::int64_t count : {full, remainder}) {
      SCOPED_TRACE(std::to_string(count) + " samples, limit " + std::to_string(limit));
      const Model weights = network();
      TrainingModel model(weights, with_limit(limit));
      for (const std::int64_t fine : {full, remainder}) model.step(samples(fine));
      const auto state = model.optimizer_state();
      const Tensor weight = weights.weight("fc.weight");
      const Tensor mean = model.buffer("norm.running_mean", 0);
      const auto failure = refusal(Errc::stage_failed, [&] { model.step(bad_samples(count)); });
      const Calls calls{{"short", [&] { model.step(samples(remainder)); }},
                        {"another short", [&] { model.step(samples(remainder - 1)); }},
                        {"full", [&] { model.step(samples(full)); }},
                        {"set_optimizer", [&] { model.set_optimizer(Sgd{}); }},
                        {"optimizer_state", [&] { model.optimizer_state(); }},
                        {"set_optimizer_state", [&] { model.set_optimizer_state(state); }},
                        {"attach", [&] { model.attach(); }},
                        {"detach", [&] { model.detach(); }}};
      for (int round = 0; round < 2; ++round) {
        expect_all_closed(failure, calls);
        EXPECT_EQ(model.updates(), 2U);
        EXPECT_TRUE(same_bits(weights.weight("fc.weight"), weight));
        // With a limit, reading the buffer brings the plan for full calls back to the IPU.
        EXPECT_TRUE(same_bits(model.buffer("norm.running_mean", 0), mean));
      }
    }
  }
}

TEST(ClosedModels, R2_6_StillAnswerAndLeaveTheirModelUsable) {
  Model weights = network();
  Options options = with_limit(0);
  options.runtime.trace = true;
  TrainingModel model(weights, options, Sgd{.learning_rate = 0.5});
  InferenceModel serving(weights, options);
  model.step(samples(full));
  for (const auto& call : {Calls::mapped_type([&] { model.step(bad_samples(full)); }),
                           Calls::mapped_type([&] { serving.run(bad_samples(full)); })})
    EXPECT_NE(refusal(Errc::stage_failed, call), "accepted");
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
TEST(ClosedModels, R2_6_AreThoseThatFailedNotThoseWhoseShortStepIsRefused) {
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

TEST(ClosedModels, F15_AreThoseThatFailedNotThoseThatCannotBeDetached) {
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
