// These tests check what fit(), evaluate() and predict() log of their loaders.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "penstock/fit.hpp"
#include "tests/engine/fit/scaling.hpp"

namespace penstock {
namespace {

using testing::numbers;
using testing::options;
using testing::per_step;
using testing::Scaling;

/// A Zeros is a dataset of `count` zeros as f32 [1], which does not say how many samples it has.
class Zeros : public IterableDataset {
 public:
  explicit Zeros(std::int64_t count) : count_(count) {}
  const std::vector<Field>& fields() const override { return fields_; }
  std::unique_ptr<SampleStream> begin(const WorkerInfo&) const override {
    struct Stream : SampleStream {
      std::int64_t left = 0;
      bool next(std::span<std::byte* const> destinations, const std::stop_token&) override {
        std::fill_n(destinations[0], sizeof(float), std::byte{0});
        return --left >= 0;
      }
    };
    auto stream = std::make_unique<Stream>();
    stream->left = count_;
    return stream;
  }

 private:
  std::int64_t count_;
  std::vector<Field> fields_{{"x", DType::f32, {1}}};
};

/// Trains for two epochs, each with a validation, and predicts. Returns what these calls log of
/// their loaders.
std::vector<std::string> noted(DataLoader data, DataLoader validation,
                               LogLevel level = LogLevel::warning) {
  std::vector<std::string> lines;
  Options logged = options();
  logged.runtime.log_level = level;
  logged.runtime.log = [&](std::string_view line) {
    if (line.starts_with("data loader")) lines.emplace_back(line);
  };
  Scaling scaling;
  TrainingModel training(scaling.model, logged);
  InferenceModel inference(scaling.model, logged);
  fit(training, data,
      {.epochs = 2,
       .metrics = {mean_of("y")},
       .validation_model = &inference,
       .validation_data = &validation});
  predict(inference, validation);
  return lines;
}

TEST(Fit, E3_WarnsOnceOfSamplesThatAreLeftOut) {
  const auto left_out = [](const std::string& samples) {
    return "data loader: " + samples +
           " of each epoch left out, since the last ones fill no batch of 8; drop_last = false "
           "keeps them";
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(noted(numbers(19), numbers(9)),
            (Lines{left_out("3 samples"), left_out("1 sample"), left_out("1 sample")}));
  EXPECT_EQ(noted(numbers(16), numbers(8)), Lines{});
  EXPECT_EQ(noted(numbers(19), numbers(9), LogLevel::error), Lines{});
  DataLoader stream(std::make_shared<Zeros>(17), per_step,
                    {.mode = LoaderMode::sync, .workers = 0});
  EXPECT_EQ(noted(std::move(stream), numbers(8)), Lines{left_out("1 sample")})
      << "known at an epoch's end";
}

TEST(Fit, E3_SaysThatALastBatchIsShortToWhoListensForMoreThanWarnings) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(noted(numbers(10, per_step, false), numbers(8)), Lines{});
  EXPECT_EQ(noted(numbers(10, per_step, false), numbers(8), LogLevel::info),
            Lines{"data loader: the last batch has 2 samples instead of 8"});
}

}  // namespace
}  // namespace penstock
