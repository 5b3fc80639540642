// A training that a callback has ended is over when it goes on from its checkpoints, and one that
// is stopped before it has come to its checkpoint has not begun.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/engine/checkpoint/same_history.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/numbered_streams.hpp"

namespace penstock::testing {
namespace {

DataLoader few_images(std::int64_t samples, const Options& options) {
  return {tensor_dataset(testing::samples(samples, true)),
          options,
          {.shuffle = true, .drop_last = false, .seed = 1}};
}

/// Returns a callback that ends the training after the step in which `updates` are done.
FitCallback stopping_after(std::uint64_t updates) {
  FitCallback callback;
  callback.on_step_end = [updates](const StepRecord& record, const StepResult&) {
    return record.updates == updates ? Next::stop : Next::go_on;
  };
  return callback;
}

/// Returns what fit() does that a callback ends, and that goes on from `resume` if it is set. The
/// checkpoints go to `saved`, and the weights to `model`.
History ended_by(const FitCallback& callback, const Model& model, std::vector<Checkpoint>& saved,
                 std::int64_t every, const Checkpoint* resume = nullptr) {
  const Options options = options_for(2, 2, 1);
  TrainingModel training(model, options, AdamW{.learning_rate = 0.05});
  DataLoader data = few_images(18, options);
  return fit(training, data,
             {.epochs = 8,
              .callbacks = {callback},
              .checkpoints = {
                  .save = [&](Checkpoint checkpoint) { saved.push_back(std::move(checkpoint)); },
                  .every_updates = every,
                  .resume = resume}});
}

TEST(EndedFit, IsKnownToItsCheckpoints) {
  // A rule of no gain, however small the loss, ends the training after the second epoch.
  const EarlyStopping never_better{.monitor = "loss", .min_delta = 1e9};
  const auto make = [&](bool in_step) {
    return in_step ? stopping_after(6) : early_stopping(never_better);
  };
  for (const bool in_step : {true, false})
    for (const std::int64_t every : {1, 1000}) {
      const Model whole = tied_model();
      std::vector<Checkpoint> saved;
      const History expected = ended_by(make(in_step), whole, saved, every);
      ASSERT_EQ(expected.epochs.size(), 2U);
      ASSERT_FALSE(saved.empty());
      EXPECT_EQ(saved.back().updates, expected.updates) << "the end is saved";
      for (const Checkpoint& checkpoint : saved) {
        SCOPED_TRACE(std::to_string(in_step) + ", update " + std::to_string(checkpoint.updates));
        const Model resumed = tied_model();
        std::vector<Checkpoint> again;
        expect_same_history(expected, ended_by(make(in_step), resumed, again, every, &checkpoint));
        expect_same_weights(whole, resumed);
      }
    }
}

/// Returns a model that reads the numbered samples of streams.
Model model_of_streams() {
  Model model("of streams", 3);
  const Value number = model.input("number", {}, DType::i64);
  model.loss(model.identity_loss(model.square(model.embedding("embed", number, 40, 3))));
  return model;
}

/// Returns what fit() does with streams of 40 samples. `before` is called before each of them is
/// read.
History trained_on_streams(TrainingModel& training, const FitCheckpoints& checkpoints,
                           const std::function<void(std::int64_t sample)>& before = {},
                           std::stop_token stop = {}) {
  const auto streams = std::make_shared<NumberedStreams>(40);
  if (before) streams->before_read = before;
  DataLoader data(streams, training.options(), {.workers = 1});
  return fit(training, data, {.epochs = 2, .checkpoints = checkpoints}, std::move(stop));
}

TEST(EndedFit, HasNotBegunIfItIsStoppedOnTheWayToItsPosition) {
  const Options options = options_for(2, 2, 1);
  const Sgd optimizer{.learning_rate = 0.1};
  const Model whole_model = model_of_streams(), model = model_of_streams();
  TrainingModel whole(whole_model, options, optimizer), training(model, options, optimizer);
  std::vector<Checkpoint> saved;
  const History expected = trained_on_streams(
      whole, {.save = [&](Checkpoint checkpoint) { saved.push_back(std::move(checkpoint)); },
              .every_updates = 1});
  constexpr std::uint64_t updates = 15;  // These are one epoch and a half.
  ASSERT_GT(saved.size(), updates);
  ASSERT_EQ(saved[updates - 1].updates, updates);
  const FitCheckpoints resume{.resume = &saved[updates - 1]};
  std::stop_source stop;
  const History stopped = trained_on_streams(
      training, resume,
      [&](std::int64_t sample) {
        if (sample == 8) stop.request_stop();
      },
      stop.get_token());
  EXPECT_TRUE(stopped.cancelled);
  EXPECT_EQ(stopped.updates, updates);
  EXPECT_EQ(stopped.epochs.size(), 1U);
  EXPECT_EQ(training.updates(), 0U);
  expect_same_weights(model, model_of_streams());
  expect_same_history(expected, trained_on_streams(training, resume));
  expect_same_weights(whole_model, model);
}

}  // namespace
}  // namespace penstock::testing
