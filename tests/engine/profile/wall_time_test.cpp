// This test compares the time that a profile has of a call with what a host measures.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "penstock/profile.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/random_tensor.hpp"

namespace penstock::testing {
namespace {

// On a busy machine the host's thread may be stopped between its own look at the clock and the
// engine's, so that one of many steps has to agree.
TEST(WallTime, H2_IsThatOfTheProfile) {
  constexpr std::int64_t width = 1024, samples_per_step = 512;
  Model model;
  const Value x = model.input("x", {width}), target = model.input("target", {width});
  model.loss(model.mse_loss(model.linear("fc", x, width), target));
  Options options{.batch_size = 32};
  options.training.gradient_accumulation = samples_per_step / options.batch_size;
  options.runtime.trace = true;
  TrainingModel training(model, options, Sgd{});
  const std::vector<Tensor> data(2, uniform({samples_per_step, width}, 1));
  double profiled = 0;
  bool agrees = false;
  for (int step = 0; step < 100 && !agrees; ++step) {
    const auto begin = std::chrono::steady_clock::now();
    training.step(data);
    const std::chrono::duration<double> measured = std::chrono::steady_clock::now() - begin;
    const double before = std::exchange(profiled, training.profile().call_seconds);
    EXPECT_LE(profiled - before, measured.count() + 1e-9);
    agrees = profiled - before >= 0.99 * measured.count();
  }
  EXPECT_TRUE(agrees) << "no call took within 1 % of what the host measured";
}

}  // namespace
}  // namespace penstock::testing
