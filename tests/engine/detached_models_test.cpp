// F15: models that are detached keep what they are told without a thread, and have one set of
// threads whichever of their plans comes first.
#include <gtest/gtest.h>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t full = 4, rest = 3;  // samples of a call

Model network() {
  Model model("network", 3);
  const Value x = model.tanh(model.linear("fc1", model.input("x", {5}), 6));
  const Value y = model.linear("fc2", x, 3);
  model.output("y", y);
  model.loss(model.cross_entropy(y, model.labels()));
  return model;
}

std::vector<Tensor> samples(std::int64_t count, std::uint64_t seed = 1) {
  return {uniform({count, 5}, seed), labels({count}, seed, 3)};
}

Options with_limit(std::int64_t bytes) {
  Options options{.batch_size = static_cast<int>(full)};
  options.runtime.threads = 2;
  options.topology.ipu_memory_bytes = bytes;
  return options;
}

/// No power of two, so that it leaves its trace.
Optimizer scaled(double learning_rate, double loss_scaling) {
  Optimizer optimizer = AdamW{.learning_rate = learning_rate};
  optimizer.loss_scaling = loss_scaling;
  return optimizer;
}

/// After a step: the state of the first one and other numbers, then a full and a short step.
Model trained(bool detached) {
  const std::size_t threads = thread_count();
  const Model model = network();
  TrainingModel training(model, with_limit(0), scaled(0.1, 3));
  training.step(samples(full, 1));
  const auto state = training.optimizer_state();
  training.step(samples(full, 2));
  if (detached) training.detach();
  EXPECT_NE(refusal(Errc::invalid_argument, [&] { training.set_optimizer(Adam{}); }), "accepted");
  training.set_optimizer(scaled(0.02, 5));
  training.set_optimizer_state(state);
  EXPECT_EQ(training.learning_rate(), 0.02);
  EXPECT_EQ(training.updates(), 1U);
  EXPECT_NE(training.attached(), detached);
  EXPECT_TRUE(!detached || threads_fall_to(threads));
  for (const std::int64_t count : {full, rest}) training.step(samples(count, 3));
  EXPECT_EQ(training.updates(), 3U);
  return model;
}

TEST(DetachedModels, F15_KeepANewOptimizerAndItsStateForTheirNextStep) {
  const Model detached = trained(true), attached = trained(false);
  for (const ParameterInfo& info : attached.parameters()) {
    const Tensor a = detached.weight(info.name), b = attached.weight(info.name);
    EXPECT_TRUE(same_bits(a, b)) << info.name;
  }
}

/// `call` passes so many samples; `without` is the number of threads without the model.
void expect_one_set_of_threads(auto& model, const auto& call, std::size_t without) {
  call(full);
  const std::size_t of_full = thread_count() - without;
  call(rest);
  EXPECT_TRUE(threads_fall_to(without + 2 * of_full - 1)) << "fewer than two sets";
  const std::size_t both = thread_count();
  model.detach();
  EXPECT_TRUE(threads_fall_to(without));
  call(rest);
  EXPECT_TRUE(threads_fall_to(both - 1));
  EXPECT_TRUE(model.stage_reports().empty()) << "nobody has asked for the plan for full calls";
  call(full);
  EXPECT_TRUE(threads_fall_to(both)) << both << " expected, " << thread_count();
  model.detach();
  EXPECT_TRUE(threads_fall_to(without));
}

TEST(DetachedModels, F15_ShareTheirThreadsWhicheverPlanComesFirst) {
  constexpr std::int64_t enough = 1'000'000;  // for all plans
  const std::size_t threads = thread_count();
  for (const std::int64_t limit : {std::int64_t{0}, enough}) {
    SCOPED_TRACE(limit);
    TrainingModel training(network(), with_limit(limit));
    expect_one_set_of_threads(
        training, [&](std::int64_t count) { training.step(samples(count)); }, threads);
    InferenceModel serving(network(), with_limit(limit));
    expect_one_set_of_threads(
        serving, [&](std::int64_t count) { serving.run({samples(count)[0]}); }, threads);
  }
}

}  // namespace
}  // namespace penstock::testing
