// fit: B7, G2, G4 and the loop's own rules, on a model small enough to do by hand: y = w·x, of
// which the loss is the mean of y, so that its gradient is the mean of x.
#include "penstock/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "penstock/error.hpp"
#include "tests/support/numbered_streams.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::refusal;

constexpr std::int64_t per_update = 4;  // samples: micro-batches of 2, G of 2
constexpr std::int64_t per_step = 8;    // D of 2

struct Scaling {
  Model model{"scaling"};
  Scaling() {
    const Value x = model.input("x", {1});
    const Value y = model.linear("fc", x, 1, false);
    model.output("y", y);
    model.loss(model.identity_loss(y, LossReduction::mean));
    model.set_weight("fc.weight", Tensor({1, 1}, {1}));
  }
  float weight() const { return model.weight("fc.weight").item(); }
};

Options options() {
  Options options{.batch_size = 2, .device_iterations = 2};
  options.training.gradient_accumulation = 2;
  options.output.mode = OutputMode::all;
  return options;
}

/// Sample i is the number i, and has the label i.
DataLoader numbers(std::int64_t samples, std::int64_t per_batch = per_step, bool drop_last = true) {
  std::vector<float> x(static_cast<std::size_t>(samples));
  std::iota(x.begin(), x.end(), 0.0f);
  std::vector<std::int64_t> labels(x.begin(), x.end());
  const auto dataset =
      tensor_dataset({Tensor({samples, 1}, std::span<const float>(x)),
                      Tensor(Shape{samples}, std::span<const std::int64_t>(labels))});
  return {dataset, per_batch, {.drop_last = drop_last, .mode = LoaderMode::sync, .workers = 0}};
}

/// What a callback was told.
struct Log {
  std::vector<std::int64_t> announced;
  std::vector<StepRecord> steps;
  std::vector<EpochRecord> epochs;
  std::vector<float> first_samples;  // of each step
  int stop_after_steps = -1;

  FitCallback callback() {
    return {.on_epoch_begin = [this](int, std::int64_t steps) { announced.push_back(steps); },
            .on_step_begin =
                [this](const Batch& batch) { first_samples.push_back(batch[0].as<float>()[0]); },
            .on_step_end =
                [this](const StepRecord& record, const StepResult&) {
                  steps.push_back(record);
                  return --stop_after_steps == 0 ? Next::stop : Next::go_on;
                },
            .on_epoch_end =
                [this](const EpochRecord& record) {
                  epochs.push_back(record);
                  return Next::go_on;
                }};
  }
};

/// Trains on 20 samples with a rate of 0, so that y = x.
Log fitted(FitOptions fit_options, Log log = {}) {
  Scaling scaling;
  TrainingModel training(scaling.model, options(), Sgd{.learning_rate = 0});
  DataLoader data = numbers(20);
  fit_options.callbacks = {log.callback()};
  const History history = fit(training, data, fit_options);
  EXPECT_EQ(history.updates, training.updates());
  EXPECT_EQ(history.epochs.size(), log.epochs.size());
  EXPECT_GT(history.samples_per_second, 0);
  return log;
}

TEST(Fit, CountsStepsPerEpochAndUpdatesPerTraining) {
  const Log log = fitted({.epochs = 2});
  ASSERT_EQ(log.steps.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(log.steps[i].epoch, i < 2 ? 1 : 2);
    EXPECT_EQ(log.steps[i].step, i % 2 + 1);
    EXPECT_EQ(log.steps[i].updates, 2 * (i + 1));
    EXPECT_GT(log.steps[i].samples_per_second, 0);
  }
  EXPECT_EQ(log.first_samples, (std::vector<float>{0, 8, 0, 8}));
  EXPECT_EQ(log.announced, (std::vector<std::int64_t>{2, 2}));
}

TEST(Fit, TellsTheMeansOfAStepAndOfAnEpoch) {
  const Log log = fitted({.metrics = {mean_of("y")}});
  EXPECT_EQ(value_of(log.steps[0].values, "loss"), 3.5);
  EXPECT_EQ(value_of(log.steps[1].values, "loss"), 11.5);
  EXPECT_EQ(value_of(log.steps[1].values, "y"), 11.5);
  ASSERT_EQ(log.epochs.size(), 1U);
  EXPECT_EQ(log.epochs[0].steps, 2);
  EXPECT_EQ(log.epochs[0].updates, 4U);
  EXPECT_EQ(log.epochs[0].values[0].name, "loss");
  EXPECT_EQ(value_of(log.epochs[0].values, "loss"), 7.5);
  EXPECT_EQ(value_of(log.epochs[0].values, "y"), 7.5);
}

TEST(Fit, TrainsTheModelThatItIsGiven) {
  Scaling scaling;
  TrainingModel training(scaling.model, options(), Sgd{.learning_rate = 0.5});
  DataLoader data = numbers(8);
  fit(training, data);
  EXPECT_EQ(scaling.weight(), 1 - 0.5f * (1.5f + 5.5f));  // the means of 0..3 and of 4..7
}

// 22 samples: two steps of two updates, one of an update and a half.
TEST(Fit, R2_6_TrainsOnAShorterLastBatchToo) {
  Scaling scaling;
  TrainingModel training(scaling.model, options(), Sgd{.learning_rate = 0});
  DataLoader data = numbers(22, per_step, false);
  Log log;
  const History history =
      fit(training, data, {.metrics = {mean_of("y")}, .callbacks = {log.callback()}});
  EXPECT_EQ(history.updates, 6U);
  EXPECT_EQ(training.updates(), 6U);
  EXPECT_EQ(value_of(history.epochs[0].values, "y"), 10.5);
  fit(training, data, {.max_updates = 5});
  EXPECT_EQ(training.updates(), 11U);
}

TEST(Fit, TheLastStepIsShortenedToTheLastUpdate) {
  const Log log = fitted({.epochs = 100, .max_updates = 7});
  ASSERT_EQ(log.steps.size(), 4U);
  EXPECT_EQ(log.steps.back().updates, 7U);
  EXPECT_EQ(value_of(log.steps.back().values, "loss"), 9.5);  // of samples 8 to 11
  EXPECT_EQ(log.steps.back().epoch, 2);
}

TEST(Fit, StopsWithoutAStepTooManyWhenUpdatesEndWithAStep) {
  const Log log = fitted({.epochs = 100, .max_updates = 4});
  EXPECT_EQ(log.steps.size(), 2U);
  EXPECT_EQ(log.announced.size(), 1U);
}

TEST(Fit, EpochsEndATrainingBeforeUpdatesDo) {
  EXPECT_EQ(fitted({.max_updates = 1000}).steps.size(), 2U);
}

TEST(Fit, AnnouncesHowManyStepsAnEpochWillHave) {
  using Steps = std::vector<std::int64_t>;
  EXPECT_EQ(fitted({.epochs = 100, .max_updates = 5}).announced, (Steps{2, 1}));
  EXPECT_EQ(fitted({.epochs = 100, .max_updates = 1}).announced, Steps{1});
  EXPECT_EQ(fitted({.epochs = 2, .steps_per_epoch = 3}).announced, (Steps{3, 3}));
}

// 20 samples: two steps of two updates, one of one.
TEST(Fit, AnnouncesStepsThatHaveFewerUpdates) {
  Scaling scaling;
  TrainingModel training(scaling.model, options(), Sgd{.learning_rate = 0});
  DataLoader data = numbers(20, per_step, false);
  Log log;
  fit(training, data,
      {.epochs = 9, .steps_per_epoch = 4, .max_updates = 13, .callbacks = {log.callback()}});
  EXPECT_EQ(log.announced, (std::vector<std::int64_t>{4, 4}));
  EXPECT_EQ(log.steps.size(), 8U);
  EXPECT_EQ(training.updates(), 13U);
}

TEST(Fit, G4_StepsPerEpochGoOnInDataThatHaveMoreAndBeginAgainInDataThatHaveLess) {
  EXPECT_EQ(fitted({.epochs = 2, .steps_per_epoch = 3}).first_samples,
            (std::vector<float>{0, 8, 0, 8, 0, 8}));
  EXPECT_EQ(fitted({.epochs = 3, .steps_per_epoch = 1}).first_samples,
            (std::vector<float>{0, 8, 0}));
}

TEST(Fit, ACallbackEndsTheTrainingAndIsToldTheEpochSoFar) {
  Log log;
  log.stop_after_steps = 3;
  log = fitted({.epochs = 5}, log);
  EXPECT_EQ(log.steps.size(), 3U);
  ASSERT_EQ(log.epochs.size(), 2U);
  EXPECT_EQ(log.epochs[1].steps, 1);
}

TEST(Fit, WhatACallbackThrowsReachesTheCallerAndLeavesTheModelAtItsLastUpdate) {
  Scaling scaling;
  TrainingModel training(scaling.model, options());
  DataLoader data = numbers(16);
  FitCallback callback;
  callback.on_step_end = [](const StepRecord&, const StepResult&) -> Next {
    throw std::runtime_error("enough");
  };
  EXPECT_THROW(fit(training, data, {.callbacks = {callback}}), std::runtime_error);
  EXPECT_EQ(training.updates(), 2U);
  EXPECT_EQ(fit(training, data).updates, 4U);
}

TEST(Fit, EvaluatesAtTheEndOfEachEpochOnTheWeightsOfThen) {
  Scaling scaling;
  Options one_update = options();
  one_update.device_iterations = 1;
  TrainingModel training(scaling.model, one_update, Sgd{.learning_rate = 0.5});
  InferenceModel inference(scaling.model, {.batch_size = 4});
  DataLoader data = numbers(4, per_update), validation = numbers(3, 2, false);
  const History history = fit(training, data,
                              {.epochs = 2,
                               .metrics = {mean_of("y")},
                               .validation_model = &inference,
                               .validation_data = &validation});
  // Each epoch is one update by -0.5 * 1.5; the mean of 0, 1, 2 is 1.
  EXPECT_EQ(value_of(history.epochs[0].values, "val_y"), 0.25);
  EXPECT_EQ(value_of(history.epochs[1].values, "val_y"), -0.5);
}

/// Zeros as f32 [1], which do not say how many they are.
class Zeros : public IterableDataset {
 public:
  explicit Zeros(std::int64_t count) : count_(count) {}
  const std::vector<Field>& fields() const override { return fields_; }
  std::unique_ptr<SampleStream> begin(const WorkerShare&) const override {
    struct Stream : SampleStream {
      std::int64_t left = 0;
      bool next(std::span<std::byte* const> destinations) override {
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

/// What a training of two epochs, each with a validation, and a prediction log of their loaders.
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
      {.epochs = 2, .validation_model = &inference, .validation_data = &validation});
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

TEST(Fit, RefusesWhatMakesNoSenseBeforeItBegins) {
  Scaling scaling;
  TrainingModel training(scaling.model, options());
  DataLoader data = numbers(16);
  const Metric y = mean_of("y");
  const std::pair<FitOptions, std::string> cases[] = {
      {{.epochs = 0}, "fit: epochs: expected 1 or more, got 0"},
      {{.steps_per_epoch = 0}, "fit: steps_per_epoch: expected 1 or more, got 0"},
      {{.max_updates = -1}, "fit: max_updates: expected 1 or more, got -1"},
      {{.metrics = {y, y}}, "metrics: expected names that differ, got \"y\" once more"},
      {{.metrics = {{"bare", {}}}},
       "metrics: expected a name and a function each, got \"bare\" without a function"},
      {{.validation_data = &data},
       "fit: validation_model and validation_data: expected both or neither, got only "
       "validation_data"}};
  for (const auto& [options, text] : cases)
    EXPECT_EQ(refusal(Errc::invalid_argument, [&] { fit(training, data, options); }), text);
  EXPECT_EQ(training.updates(), 0U);
}

TEST(Fit, D2_RefusesALoaderWhoseBatchesAreNoSteps) {
  Scaling scaling;
  TrainingModel training(scaling.model, options());
  for (const std::int64_t per_batch : {1, 4, 7, 9, 16}) {
    DataLoader data = numbers(32, per_batch);
    EXPECT_EQ(refusal(Errc::invalid_argument, [&] { fit(training, data); }),
              "fit: data: expected batches of 8 samples, what a step takes (batch size x gradient "
              "accumulation x device iterations x replicas), got batches of " +
                  std::to_string(per_batch) +
                  "; DataLoader(dataset, model.options()) makes such ones");
  }
  EXPECT_EQ(training.updates(), 0U);
}

TEST(Fit, D2_TakesABatchSamplersBatchesIfNoneIsTooLarge) {
  Scaling scaling;
  TrainingModel training(scaling.model, options(), Sgd{.learning_rate = 0});
  const auto dataset = tensor_dataset({Tensor({3, 1}, {1, 2, 3})});
  const auto batches = [&](std::int64_t concatenated) {
    const BatchSampler sampler = [](std::uint64_t) {
      return std::vector<std::vector<std::int64_t>>{{0, 1, 2}, {0, 1, 2}, {0}, {1}, {2}, {0}};
    };
    return DataLoader(dataset, sampler, concatenated, {.mode = LoaderMode::sync, .workers = 0});
  };
  DataLoader some = batches(2), many = batches(6);
  EXPECT_EQ(fit(training, some).updates, 4U);  // of 4 and 2, of 2, of 2
  EXPECT_NE(refusal(Errc::invalid_argument, [&] { fit(training, many); }).find("batches of 10"),
            std::string::npos);
  EXPECT_EQ(training.updates(), 4U);
}

TEST(Fit, RefusesAnEpochWithoutABatch) {
  Scaling scaling;
  TrainingModel training(scaling.model, options());
  InferenceModel inference(scaling.model, options());
  const auto few = std::make_shared<testing::NumberedStreams>(per_step - 1, false);
  DataLoader data(few, per_step, {.mode = LoaderMode::sync, .workers = 0});
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { fit(training, data); }),
            "fit: expected at least one batch in an epoch of the data");
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { evaluate(inference, data, {}); }),
            "evaluate: expected at least one batch in an epoch of the data");
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { predict(inference, data); }),
            "predict: expected at least one batch in an epoch of the data");
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { fit(training, data, {.steps_per_epoch = 2}); }),
            "fit: expected at least one batch in an epoch of the data");
}

TEST(Fit, AsksAMetricOnceAStepWhoeverListens) {
  Log log;
  int asked = 0;
  const Metric counting{"asked", [&](const StepResult&, const Batch&) {
                          ++asked;
                          return Score{static_cast<double>(asked), 1};
                        }};
  log = fitted({.metrics = {counting}}, log);
  EXPECT_EQ(asked, std::ssize(log.steps));
  EXPECT_EQ(value_of(log.steps.back().values, "asked"), asked);
  EXPECT_EQ(value_of(log.epochs.back().values, "asked"), (1.0 + asked) / 2);
}

/// What fit() and evaluate() say about a metric under an output mode before the first call.
std::pair<std::string, std::string> refusals(const Metric& metric, OutputMode mode,
                                             int replicas_of_a_group = 1) {
  Scaling scaling;
  Options refused = options();
  refused.output.mode = mode;
  refused.topology.replication_factor = refused.topology.input_group_size = replicas_of_a_group;
  TrainingModel training(scaling.model, refused);
  InferenceModel inference(scaling.model, refused);
  DataLoader data = numbers(16);
  std::pair<std::string, std::string> texts{
      refusal(Errc::invalid_argument, [&] { fit(training, data, {.metrics = {metric}}); }),
      refusal(Errc::invalid_argument, [&] { evaluate(inference, data, {metric}); })};
  EXPECT_EQ(training.updates(), 0U);
  EXPECT_EQ(inference.weight_uploads(), 0U);
  return texts;
}

TEST(Fit, F16_RefusesWhatAMetricLooksForInVainBeforeItBegins) {
  const std::string no_z = "there is no output named \"z\"";
  const std::string single =
      "metric \"accuracy\": accuracy: expected the scores of single samples, as output mode all, "
      "final or every_n returns them, got sum";
  const std::string once =
      "metric \"accuracy\": accuracy: expected the scores of each sample once, got those of input "
      "groups of 2 replicas";
  using Texts = std::pair<std::string, std::string>;
  EXPECT_EQ(refusals(accuracy("z"), OutputMode::all),
            (Texts{"fit: metric \"accuracy\": " + no_z, "evaluate: metric \"accuracy\": " + no_z}));
  EXPECT_EQ(refusals(mean_of("z"), OutputMode::all),
            (Texts{"fit: metric \"z\": " + no_z, "evaluate: metric \"z\": " + no_z}));
  EXPECT_EQ(refusals(accuracy("y"), OutputMode::sum),
            (Texts{"fit: " + single, "evaluate: " + single}));
  EXPECT_EQ(refusals(accuracy("y"), OutputMode::all, 2),
            (Texts{"fit: " + once, "evaluate: " + once}));
}

TEST(Fit, RefusesAMetricOfWhichTheValidationModelHasNoOutput) {
  Scaling scaling;
  TrainingModel training(scaling.model, options());
  const Model other = [] {
    Model model("other");
    model.output("z", model.linear("fc", model.input("x", {1}), 1));
    return model;
  }();
  InferenceModel inference(other, options());
  DataLoader data = numbers(16), validation = numbers(16);
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] {
                      fit(training, data,
                          {.metrics = {mean_of("y")},
                           .validation_model = &inference,
                           .validation_data = &validation});
                    }),
            "fit: validation_model: metric \"y\": there is no output named \"y\"");
  EXPECT_EQ(training.updates(), 0U);
}

TEST(Fit, WhatAMetricOfOnesOwnThrowsHasOneStepBehindItUnlessItChecks) {
  Scaling scaling;
  TrainingModel training(scaling.model, options());
  DataLoader data = numbers(16);
  Metric own{"own", [](const StepResult& result, const Batch&) {
               result.output("z");
               return Score{};
             }};
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { fit(training, data, {.metrics = {own}}); }),
            "there is no output named \"z\"");
  EXPECT_EQ(training.updates(), 2U);
  own.check = [](const StepResult& outline) { outline.anchor("a"); };
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { fit(training, data, {.metrics = {own}}); }),
            "fit: metric \"own\": there is no anchor named \"a\"");
  EXPECT_EQ(training.updates(), 2U);
}

/// How many epochs a training has whose epochs end with such values of "loss".
std::size_t epochs_until_stopped(const EarlyStopping& rule, const std::vector<double>& losses) {
  const FitCallback callback = early_stopping(rule);
  for (std::size_t i = 0; i < losses.size(); ++i)
    if (callback.on_epoch_end({.values = {{"loss", losses[i]}}}) == Next::stop) return i + 1;
  return losses.size();
}

TEST(EarlyStopping, WaitsAsManyEpochsAsItsPatienceForAGain) {
  const std::vector<double> losses{3, 2, 2, 2.5, 1, 1, 1, 1};
  EXPECT_EQ(epochs_until_stopped({.monitor = "loss"}, losses), 3U);
  EXPECT_EQ(epochs_until_stopped({.monitor = "loss", .patience = 1}, losses), 4U);
  EXPECT_EQ(epochs_until_stopped({.monitor = "loss", .patience = 2}, losses), 8U);
  EXPECT_EQ(epochs_until_stopped({.monitor = "loss", .min_delta = 1}, losses), 2U);
  EXPECT_EQ(epochs_until_stopped({.monitor = "loss", .higher_is_better = true}, losses), 2U);
}

TEST(EarlyStopping, TakesALossThatIsNoNumberForNoGain) {
  EXPECT_EQ(epochs_until_stopped({.monitor = "loss", .patience = 1}, {std::nan(""), std::nan("")}),
            2U);
}

TEST(EarlyStopping, G4_EndsATrainingWithTheEpochThatGainsNothing) {
  Scaling scaling;
  TrainingModel training(scaling.model, options(), Sgd{.learning_rate = 0});
  InferenceModel inference(scaling.model, options());
  DataLoader data = numbers(16), validation = numbers(16);
  const History history = fit(training, data,
                              {.epochs = 9,
                               .metrics = {mean_of("y")},
                               .validation_model = &inference,
                               .validation_data = &validation,
                               .callbacks = {early_stopping({.monitor = "val_y", .patience = 1})}});
  EXPECT_EQ(history.epochs.size(), 3U);
}

TEST(EarlyStopping, IsRefusedBeforeATrainingWithoutTheValue) {
  Scaling scaling;
  TrainingModel training(scaling.model, options());
  InferenceModel inference(scaling.model, options());
  DataLoader data = numbers(16), validation = numbers(16);
  const auto refused = [&](const EarlyStopping& rule, FitOptions options) {
    options.callbacks = {early_stopping(rule)};
    return refusal(Errc::invalid_argument, [&] { fit(training, data, options); });
  };
  const std::string expected = "early stopping: monitor: expected a value of this training, ";
  EXPECT_EQ(refused({}, {}), expected + "loss, got \"val_loss\"");
  EXPECT_EQ(refused({}, {.metrics = {mean_of("y")},
                         .validation_model = &inference,
                         .validation_data = &validation}),
            expected + "loss, y, val_y, got \"val_loss\"");
  EXPECT_EQ(refused({.monitor = "val_y"}, {.metrics = {mean_of("y")}}),
            expected + "loss, y, got \"val_y\"");
  EXPECT_EQ(training.updates(), 0U);
}

TEST(EarlyStopping, NamesWhatItCannotUse) {
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { early_stopping({.monitor = ""}); }),
            "early stopping: monitor: expected a name, got none");
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { early_stopping({.patience = -1}); }),
            "early stopping: patience: expected 0 or more, got -1");
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { early_stopping({.min_delta = -1}); }),
            "early stopping: min_delta: expected 0 or more, got -1.000000");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [] {
                      early_stopping({}).on_epoch_end({.values = {{"loss", 1}, {"accuracy", 1}}});
                    }),
            "there is no value named \"val_loss\"; there are: loss, accuracy");
}

TEST(Evaluate, G5_WeighsEverySampleTheSameInAShorterLastBatchToo) {
  Scaling scaling;
  InferenceModel inference(scaling.model, {.batch_size = 2});
  DataLoader data = numbers(7, 2, false);
  int batches = 0;
  const Evaluation evaluation = evaluate(inference, data, {mean_of("y")}, [&] { ++batches; });
  EXPECT_EQ(value_of(evaluation.values, "y"), 3);
  EXPECT_EQ(batches, 4);
  EXPECT_GT(evaluation.samples_per_second, 0);
}

/// Batches are of 24 samples, as a step of training takes them; a run takes 8.
TEST(Evaluate, D4_TakesTheBatchesOfATrainingInRunsOfItsOwn) {
  Scaling scaling;
  Options options{.batch_size = 2, .device_iterations = 2, .topology = {.replication_factor = 2}};
  options.training.gradient_accumulation = 3;
  InferenceModel inference(scaling.model, options);
  ASSERT_EQ(inference.samples_per_run(), 8);
  std::vector<std::int64_t> runs;
  const Metric by_label{"by label", [&](const StepResult& result, const Batch& batch) {
                          const auto y = result.output("y").as<float>();
                          const auto labels = batch.back().as<std::int64_t>();
                          EXPECT_TRUE(std::ranges::equal(y, labels));
                          runs.push_back(std::ssize(labels));
                          return Score{std::accumulate(y.begin(), y.end(), 0.0), std::ssize(y)};
                        }};
  for (const std::int64_t samples : {48, 47, 41, 25, 24, 7}) {
    DataLoader data = numbers(samples, options.samples_per_step(), false);
    runs.clear();
    const Evaluation evaluation = evaluate(inference, data, {by_label});
    EXPECT_EQ(value_of(evaluation.values, "by label"), static_cast<double>(samples - 1) / 2);
    std::vector<std::int64_t> expected(static_cast<std::size_t>(samples / 8), 8);
    if (samples % 8 != 0) expected.push_back(samples % 8);
    EXPECT_EQ(runs, expected);

    const Tensor y = predict(inference, data)[0].tensor;
    ASSERT_EQ(y.shape(), (Shape{samples, 1}));
    for (std::size_t i = 0; i < y.as<float>().size(); ++i)
      EXPECT_EQ(y.as<float>()[i], static_cast<float>(i));
  }
}

TEST(Evaluate, TellsALossThatIsAnOutput) {
  Model model("m");
  const Value x = model.input("x", {1});
  const Value loss = model.identity_loss(x, LossReduction::mean);
  model.output("loss", loss);
  InferenceModel inference(model, {.batch_size = 2});
  DataLoader data = numbers(4, 2);
  EXPECT_EQ(value_of(evaluate(inference, data, {mean_of("loss")}).values, "loss"), 1.5);
}

TEST(Predict, G5_ReturnsARowForEverySample) {
  Scaling scaling;
  InferenceModel inference(scaling.model, {.batch_size = 2, .device_iterations = 2});
  DataLoader data = numbers(7, 4, false);
  const std::vector<NamedTensor> outputs = predict(inference, data);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].name, "y");
  ASSERT_EQ(outputs[0].tensor.shape(), (Shape{7, 1}));
  for (std::size_t i = 0; i < 7; ++i)
    EXPECT_EQ(outputs[0].tensor.as<float>()[i], static_cast<float>(i));
}

TEST(Predict, TakesAnyNumberOfSamplesAtOnce) {
  Scaling scaling;
  InferenceModel inference(scaling.model, options());  // in which accumulation has no meaning
  for (const std::int64_t samples : {1, 3, 4, 5, 8, 9}) {
    std::vector<float> x(static_cast<std::size_t>(samples));
    std::iota(x.begin(), x.end(), 0.0f);
    const Tensor y =
        predict(inference, {Tensor({samples, 1}, std::span<const float>(x))})[0].tensor;
    ASSERT_EQ(y.shape(), (Shape{samples, 1}));
    EXPECT_TRUE(std::equal(x.begin(), x.end(), y.as<float>().begin()));
  }
}

TEST(Predict, SaysWhatIsWrongWithItsInputsAndOutputs) {
  Scaling scaling;
  InferenceModel inference(scaling.model, {.batch_size = 2});
  EXPECT_THROW(predict(inference, std::vector<Tensor>{}), Error);
  EXPECT_THROW(predict(inference, {Tensor({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}), Error);
  InferenceModel last_only(
      scaling.model,
      {.batch_size = 2, .device_iterations = 2, .output = {.mode = OutputMode::final}});
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      predict(last_only, {Tensor({4, 1}, {1, 2, 3, 4})});
                    }),
            "predict: expected a row of output \"y\" for each of 4 samples, got [2,1]");
}

}  // namespace
}  // namespace penstock
