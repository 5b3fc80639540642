// F15 of docs/reference.md: detached models have no threads, and yet keep the optimizer and the
// state that they are given. Attached models have one set of threads, whichever of their plans is
// attached first.
#include <gtest/gtest.h>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/short_call_models.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::testing {
namespace {

/// Returns an AdamW optimizer. A loss scaling that is no power of two changes the rounding.
Optimizer scaled(double learning_rate, double loss_scaling) {
  Optimizer optimizer = AdamW{.learning_rate = learning_rate};
  optimizer.loss_scaling = loss_scaling;
  return optimizer;
}

/// Trains for two steps, and detaches the model if `detached` is true. Then sets another optimizer,
/// and the state that the optimizer had after the first step. Then trains for a full and a short
/// step, and returns the model.
Model trained(bool detached) {
  const std::size_t threads = thread_count();
  const Model model = network();
  TrainingModel training(model, with_limit(0), scaled(0.1, 3));
  training.step(samples(full, 0));
  const auto state = training.optimizer_state();
  training.step(samples(full, 1));
  if (detached) training.detach();
  EXPECT_NE(refusal(Errc::invalid_argument, [&] { training.set_optimizer(Adam{}); }), "accepted");
  training.set_optimizer(scaled(0.02, 5));
  training.set_optimizer_state(state);
  EXPECT_EQ(training.learning_rate(), 0.02);
  EXPECT_EQ(training.updates(), 1U);
  EXPECT_NE(training.attached(), detached);
  EXPECT_TRUE(!detached || threads_fall_to(threads));
  for (const std::int64_t count : {full, remainder}) training.step(samples(count, 2));
  EXPECT_EQ(training.updates(), 3U);
  return model;
}

TEST(DetachedModels, F15_KeepANewOptimizerAndItsStateForTheirNextStep) {
  const Model detached = trained(true), attached = trained(false);
  expect_same_weights(detached, attached);
}

/// Expects that plans for full and for short calls share one set of threads. `call(count)` makes a
/// call with `count` samples, and `without` is the number of threads without the model.
void expect_one_set_of_threads(auto& model, const auto& call, std::size_t without) {
  call(full);
  const std::size_t of_full = thread_count() - without;
  call(remainder);
  EXPECT_TRUE(threads_fall_to(without + 2 * of_full - 1)) << "fewer than two sets";
  const std::size_t both = thread_count();
  model.detach();
  EXPECT_TRUE(threads_fall_to(without));
  call(remainder);
  EXPECT_TRUE(threads_fall_to(both - 1));
  EXPECT_TRUE(model.stage_reports().empty()) << "nobody has asked for the plan for full calls";
  call(full);
  EXPECT_TRUE(threads_fall_to(both)) << both << " expected, " << thread_count();
  model.detach();
  EXPECT_TRUE(threads_fall_to(without));
}

TEST(DetachedModels, F15_ShareTheirThreadsWhicheverPlanComesFirst) {
  constexpr std::int64_t enough = 1'000'000;  // All plans together need less than this.
  const std::size_t threads = thread_count();
  for (const std::int64_t limit : {std::int64_t{0}, enough}) {
    SCOPED_TRACE(limit);
    TrainingModel training(network(), with_limit(limit));
    expect_one_set_of_threads(
        training, [&](std::int64_t count) { training.step(samples(count)); }, threads);
    InferenceModel serving(network(), with_limit(limit));
    expect_one_set_of_threads(
        serving, [&](std::int64_t count) { serving.run(samples(count)); }, threads);
  }
}

}  // namespace
}  // namespace penstock::testing
