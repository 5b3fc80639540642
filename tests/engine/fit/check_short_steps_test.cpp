// These tests check what fit() and evaluate() know beforehand about steps and runs that are shorter
// than the others.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/fit.hpp"
#include "tests/engine/fit/scaling.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::numbers;
using testing::options;
using testing::per_step;
using testing::refusal;
using testing::Scaling;

Options fixed() {
  Options result = options();
  result.static_shapes = true;
  return result;
}

Options returning(OutputMode mode) {
  Options result = options();
  result.output.mode = mode;
  return result;
}

/// A Counting has a stream of the numbers from `samples` down to 1.
class Counting : public IterableDataset {
 public:
  Counting(std::int64_t samples, bool says_size) : samples_(samples), says_size_(says_size) {}
  const std::vector<Field>& fields() const override { return fields_; }
  std::optional<std::int64_t> size() const override {
    return says_size_ ? std::optional(samples_) : std::nullopt;
  }
  std::unique_ptr<SampleStream> begin(const WorkerInfo&) const override {
    return std::make_unique<Stream>(samples_);
  }

 private:
  struct Stream : SampleStream {
    explicit Stream(std::int64_t samples) : left(samples) {}
    bool next(std::span<std::byte* const> destinations, const std::stop_token&) override {
      if (left == 0) return false;
      const auto number = static_cast<float>(left--);
      std::memcpy(destinations[0], &number, sizeof number);
      return true;
    }
    std::int64_t left;
  };

  std::int64_t samples_;
  bool says_size_;
  std::vector<Field> fields_{{"x", DType::f32, {1}}};
};

DataLoader streamed(std::int64_t samples, std::int64_t per_batch, bool says_size) {
  return {std::make_shared<Counting>(samples, says_size),
          per_batch,
          {.drop_last = false, .mode = LoaderMode::sync, .workers = 0}};
}

/// Returns the text with which fit() refuses before it trains, or "accepted" after all updates.
std::string said(const Options& options, DataLoader data, const FitOptions& fitting) {
  Scaling scaling;
  TrainingModel training(scaling.model, options, Sgd{.learning_rate = 0});
  std::string text = refusal(Errc::invalid_argument, [&] { fit(training, data, fitting); });
  EXPECT_EQ(training.updates() == 0, text != "accepted") << text;
  return text;
}

TEST(CheckShortSteps, R2_6_ThatAModelDoesNotTakeAreRefusedBeforeATrainingBegins) {
  const std::string last =
                        " samples, an epoch's last one; DataLoaderOptions::drop_last = true leaves "
                        "it out: step: ",
                    cut = " samples, the last one, which max_updates cuts short: step: ",
                    full =
                        "expected 8 samples (batch size x gradient accumulation x device "
                        "iterations x replicas), for options.static_shapes is set, got ",
                    whole = "expected a multiple of 4 samples, for the output mode is ";
  const std::string data = "fit: data: a step will have ";
  EXPECT_EQ(said(fixed(), numbers(18, per_step, false), {}), data + "2" + last + full + "2");
  EXPECT_EQ(said(fixed(), numbers(16), {.max_updates = 3}), data + "4" + cut + full + "4");
  EXPECT_EQ(said(fixed(), numbers(18, per_step, false), {.max_updates = 5}),
            data + "2" + last + full + "2");
  for (const OutputMode mode : {OutputMode::sum, OutputMode::every_n})
    EXPECT_EQ(said(returning(mode), numbers(18, per_step, false), {}),
              data + "2" + last + whole + std::string(to_string(mode)) + ", got 2");
}

TEST(CheckShortSteps, R2_6_ThatWillNotComeAreNotRefused) {
  const auto ragged = [] { return numbers(18, per_step, false); };
  const Options sum = returning(OutputMode::sum);
  for (const Options& options : {fixed(), sum}) {
    EXPECT_EQ(said(options, numbers(18), {}), "accepted");
    EXPECT_EQ(said(options, ragged(), {.steps_per_epoch = 2}), "accepted");
    EXPECT_EQ(said(options, ragged(), {.max_updates = 4}), "accepted");
    EXPECT_EQ(said(options, numbers(16), {.epochs = 2, .max_updates = 9}), "accepted");
  }
  // The steps have 8, 8 and 4 samples.
  EXPECT_EQ(said(sum, numbers(22, per_step, false), {.max_updates = 5}), "accepted");
  EXPECT_EQ(said(sum, numbers(20, per_step, false), {.max_updates = 3}), "accepted");
  EXPECT_NE(said(fixed(), ragged(), {.epochs = 2, .steps_per_epoch = 2}), "accepted");
}

FitCallback after_each_step() {
  return {.on_step_end = [](const StepRecord&, const StepResult&) { return Next::stop; }};
}

FitCallback after_each_epoch() {
  return {.on_epoch_end = [](const EpochRecord&) { return Next::stop; }};
}

TEST(CheckShortSteps, R2_6_ThatACallbackMayPreventAreNotRefused) {
  const auto ragged = [] { return numbers(18, per_step, false); };
  for (const Options& options : {fixed(), returning(OutputMode::sum)}) {
    const auto accepts = [&](DataLoader data, const FitOptions& fitting) {
      EXPECT_EQ(said(options, std::move(data), fitting), "accepted");
    };
    accepts(ragged(),
            {.epochs = 1000, .steps_per_epoch = 2, .callbacks = {{}, after_each_epoch()}});
    accepts(ragged(), {.callbacks = {after_each_step()}});
    accepts(numbers(16), {.epochs = 2, .max_updates = 5, .callbacks = {after_each_epoch()}});
    accepts(numbers(16), {.max_updates = 3, .callbacks = {after_each_step(), after_each_epoch()}});
  }
}

TEST(CheckShortSteps, R2_6_ThatComeBeforeACallbackMayStopAreRefused) {
  const auto refuses = [](DataLoader data, const FitOptions& fitting) {
    EXPECT_TRUE(said(fixed(), std::move(data), fitting).starts_with("fit: data: a step will have"));
  };
  refuses(numbers(18, per_step, false), {.callbacks = {after_each_epoch()}});
  refuses(numbers(18, per_step, false), {.steps_per_epoch = 3, .callbacks = {after_each_epoch()}});
  refuses(numbers(16), {.max_updates = 3, .callbacks = {after_each_epoch()}});
  refuses(numbers(6, per_step, false), {.callbacks = {after_each_step()}});
  refuses(numbers(16), {.max_updates = 1, .callbacks = {after_each_step()}});
  FitCallback listener;
  listener.on_step_begin = [](const Batch&) {};
  refuses(numbers(18, per_step, false),
          {.epochs = 2, .steps_per_epoch = 2, .callbacks = {listener}});
}

TEST(CheckShortSteps, R2_6_OfDataThatSayNoLengthAreNotForetold) {
  const auto stream = [](std::int64_t samples) { return streamed(samples, per_step, false); };
  EXPECT_EQ(said(fixed(), stream(16), {.max_updates = 5}), "accepted");
  EXPECT_NE(said(fixed(), stream(16), {.steps_per_epoch = 3, .max_updates = 5}), "accepted");
}

TEST(CheckShortRuns, R2_6_ThatAModelDoesNotTakeAreRefusedBeforeTheFirst) {
  Scaling scaling;
  TrainingModel training(scaling.model, options());
  InferenceModel inference(scaling.model, returning(OutputMode::final));
  DataLoader data = numbers(16), validation = numbers(9, per_step, false),
             multiple = numbers(10, per_step, false);
  const std::string text =
      ": a batch of 1 sample ends in a run of 1: run: expected a multiple of 2 samples, for the "
      "output mode is final, got 1";
  FitOptions fitting{
      .metrics = {mean_of("y")}, .validation_model = &inference, .validation_data = &validation};
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { fit(training, data, fitting); }),
            "fit: validation_data" + text);
  EXPECT_EQ(training.updates(), 0U);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { evaluate(inference, validation, {}); }),
            "evaluate: data" + text);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { predict(inference, validation); }),
            "predict: data" + text);
  EXPECT_EQ(inference.weight_uploads(), 0U);
  fitting.validation_data = &multiple;
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { fit(training, data, fitting); }), "accepted");
}

TEST(CheckShortRuns, R2_6_OfAStreamAreThoseOfItsSize) {
  Scaling scaling;
  const auto says = [&](Options options, bool says_size, std::int64_t samples) {
    options.batch_size = 3;
    options.device_iterations = 1;
    InferenceModel inference(scaling.model, options);
    DataLoader data = streamed(samples, per_step, says_size);
    return refusal(Errc::invalid_argument, [&] { evaluate(inference, data, {mean_of("y")}); });
  };
  for (const Options& options : {fixed(), returning(OutputMode::final)}) {
    for (const bool says_size : {false, true}) EXPECT_EQ(says(options, says_size, 6), "accepted");
    EXPECT_TRUE(says(options, true, 5)
                    .starts_with("evaluate: data: a batch of 5 samples ends in a run of 2: run: "));
    EXPECT_TRUE(says(options, true, 14)
                    .starts_with("evaluate: data: a batch of 8 samples ends in a run of 2: run: "));
  }
}

}  // namespace
}  // namespace penstock
