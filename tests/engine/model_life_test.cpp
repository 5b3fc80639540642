// In these tests a model is detached and attached, saved and continued, and copied.
#include <gtest/gtest.h>

#include <vector>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::testing {
namespace {

TEST(Detaching, F15_ChangesNoBitOfATrainingThatGoesOn) {
  const Options options = options_for(2, 2, 1);
  const Model whole = tied_model(), swapped = tied_model();
  TrainingModel straight(whole, options, AdamW{.learning_rate = 0.1});
  TrainingModel training(swapped, options, AdamW{.learning_rate = 0.1});
  InferenceModel serving(swapped, options);
  for (std::uint64_t swap = 1; swap <= 5; ++swap) {
    const auto data = samples(4, true, swap);
    const StepResult expected = straight.step(data), result = training.step(data);
    EXPECT_TRUE(same_bits(result.loss, expected.loss)) << "swap " << swap;
    training.detach();
    EXPECT_FALSE(training.attached());
    EXPECT_EQ(training.updates(), swap);
    serving.run({samples(2, true)[0]});
    serving.detach();
  }
  expect_same_weights(whole, swapped);
  const auto expected = straight.optimizer_state(), state = training.optimizer_state();
  EXPECT_FALSE(training.attached()) << "reading what was kept needs no IPU";
  expect_same_state(state, expected);
}

TEST(Detaching, F15_KeepsTheBuffersOfEachReplica) {
  Options options = options_for(2, 2, 1);
  options.topology.replication_factor = 2;
  const Model whole = tied_model();
  Model swapped = tied_model();
  TrainingModel straight(whole, options, Sgd{.learning_rate = 0.1});
  TrainingModel training(swapped, options, Sgd{.learning_rate = 0.1});
  const auto expect_same_means = [&] {
    const Tensor first = training.buffer("norm.running_mean", 0),
                 second = training.buffer("norm.running_mean", 1);
    EXPECT_FALSE(same_bits(first, second));
    EXPECT_TRUE(same_bits(first, straight.buffer("norm.running_mean", 0)));
    EXPECT_TRUE(same_bits(second, straight.buffer("norm.running_mean", 1)));
  };
  for (std::uint64_t swap = 1; swap <= 2; ++swap) {
    for (TrainingModel* one : {&straight, &training}) one->step(samples(8, true, swap));
    training.detach();
    expect_same_means();
    training.detach();
  }
  // Buffers that the host has set are those of all replicas.
  swapped.set_weight("norm.running_mean", whole.weight("norm.running_mean"));
  EXPECT_TRUE(
      same_bits(training.buffer("norm.running_mean", 1), whole.weight("norm.running_mean")));
}

TEST(Detaching, F15_EndsItsThreads) {
  const std::size_t threads = thread_count();
  const Model model = tied_model();
  TrainingModel training(model, options_for(2, 2, 1), AdamW{});
  training.step(samples(4, true));
  const Tensor mean = training.buffer("norm.running_mean", 0);
  training.detach();
  EXPECT_TRUE(threads_fall_to(threads));
  EXPECT_TRUE(same_bits(training.buffer("norm.running_mean", 0), mean));
  EXPECT_GT(thread_count(), threads);
  EXPECT_TRUE(training.attached());
  training.attach();  // The model is attached already, so that this call does nothing.
  EXPECT_EQ(training.updates(), 1U);
}

TEST(Detaching, F15_IsRefusedWhereNothingIsAttached) {
  const Model model = tied_model();
  TrainingModel training(model, options_for(2, 2, 1));
  InferenceModel serving(model, options_for(2, 1, 1));
  training.detach();
  serving.detach();
  const std::string text = "detach: model \"tied\" is not attached to its IPUs";
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { training.detach(); }), text);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { serving.detach(); }), text);
  EXPECT_TRUE(training.stage_reports().empty());
}

TEST(RandomNumbers, R2_6_GoOnWhereASavedTrainingEnded) {
  const Options options = options_for(2, 2, 1);
  const Model whole = tied_model(), first = tied_model(), second = tied_model();
  TrainingModel straight(whole, options, Sgd{.learning_rate = 0.1});
  straight.step(samples(4, true, 1));
  straight.step(samples(4, true, 2));
  std::vector<NamedTensor> state;
  {
    TrainingModel training(first, options, Sgd{.learning_rate = 0.1});
    training.step(samples(4, true, 1));
    state = training.optimizer_state();
  }
  Model loaded = second;
  for (const ParameterInfo& info : first.parameters())
    loaded.set_weight(info.name, first.weight(info.name));
  TrainingModel training(loaded, options, Sgd{.learning_rate = 0.1});
  training.set_optimizer_state(state);
  training.step(samples(4, true, 2));
  expect_same_weights(whole, loaded);

  TrainingModel other_masks(first, options, Sgd{.learning_rate = 0.1});
  // A new training begins with update 0, and so draws the masks of update 0 again.
  other_masks.step(samples(4, true, 2));
  EXPECT_FALSE(same_bits(first.weight("fc.weight"), whole.weight("fc.weight")));
}

TEST(Copies, A5_OfAModelHaveWeightsOfTheirOwn) {
  Model model("m", 5);
  const Value x = model.tanh(model.linear("fc1", model.input("x", {4}), 6));
  model.loss(model.cross_entropy(model.linear("fc2", x, 4), model.labels()));
  model.begin_block_at("fc2", "B2", 7);
  TrainingModel training(model, options_for(2, 2, 1));
  training.step(samples(4, false));
  Model copy = model.clone();
  expect_same_weights(model, copy);
  EXPECT_EQ(to_string(copy.stage_assignment()), to_string(model.stage_assignment()));
  const Tensor before = model.weight("fc1.weight");
  TrainingModel other(copy, options_for(2, 2, 1));
  other.step(samples(4, false));
  EXPECT_TRUE(same_bits(model.weight("fc1.weight"), before));
  EXPECT_FALSE(same_bits(copy.weight("fc1.weight"), before));
  training.step(samples(4, false));
  expect_same_weights(model, copy);
  copy.remove_block_marks();
  EXPECT_NE(to_string(copy.stage_assignment()), to_string(model.stage_assignment()));
}

}  // namespace
}  // namespace penstock::testing
