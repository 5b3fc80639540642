// A training by fit() that was interrupted anywhere goes on to the same weights, metrics, records
// and callbacks as one that was not.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/engine/checkpoint/same_history.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::testing {
namespace {

/// A Largest is the largest number of the output "y", a metric of the host's own.
class Largest : public MetricState {
 public:
  void add(const StepResult& result, const Batch&) override {
    for (const float number : result.output("y").as<float>()) most_ = std::max(most_, number);
  }
  void merge(const MetricState& other) override {
    most_ = std::max(most_, static_cast<const Largest&>(other).most_);
  }
  double value() const override { return most_; }
  SavedState save() const override {
    return {.tensors = {{"most", Tensor({}, std::span(&most_, 1))}}};
  }
  void load(const SavedState& saved) override { most_ = saved.tensor("most").item(); }

 private:
  float most_ = -1e9f;
};

/// A Plan says how fit() trains.
struct Plan {
  std::string name;
  int iterations = 1, replicas = 1, epochs = 3;
  std::optional<std::int64_t> steps_per_epoch = {}, max_updates = {};
  std::int64_t samples = 18;
  Strategy strategy = Strategy::pipelined;
};

const std::vector<Plan> plans{
    {.name = "epochs of the data"},
    {.name = "several updates per step", .iterations = 2},
    {.name = "replicas", .replicas = 2},
    {.name = "epochs of five steps", .steps_per_epoch = 5},
    {.name = "epochs of three steps", .steps_per_epoch = 3, .max_updates = 8},
    {.name = "a number of updates", .iterations = 2, .epochs = 9, .max_updates = 7}};

Options options_of(const Plan& plan) {
  Options options = options_for(2, 2, plan.iterations);
  options.topology.replication_factor = plan.replicas;
  options.topology.strategy = plan.strategy;
  options.output.mode = OutputMode::all;
  return options;
}

DataLoader loader_of(std::int64_t samples, std::int64_t rows, std::uint64_t seed,
                     bool drop_last = false) {
  return {tensor_dataset(testing::samples(samples, true, seed)),
          rows,
          {.shuffle = true, .drop_last = drop_last, .seed = seed}};
}

/// A FitRun is a training with all that can be saved.
class FitRun {
 public:
  explicit FitRun(const Plan& plan)
      : model(tied_model()),
        average(model, {.decay = 0.5, .every_steps = 3}),
        plan_(plan),
        training_(model, options_of(plan), AdamW{.learning_rate = 0.05}),
        inference_(model, options_for(2, 1, 1)),
        data_(loader_of(plan.samples, options_of(plan).samples_per_step(), 1)),
        validation_(loader_of(10, 4, 2, true)) {}

  /// Trains, from `resume` on if it is set. The run asks for a stop in the call number `stop_in` of
  /// its own functions, counted from 1. It saves each `every` updates.
  History fit(const Checkpoint* resume, int stop_in = 0, std::int64_t every = 1000) {
    stop_in_ = stop_in;
    return penstock::fit(
        training_, data_,
        {.epochs = plan_.epochs,
         .steps_per_epoch = plan_.steps_per_epoch,
         .max_updates = plan_.max_updates,
         .metrics = {accuracy("y"), precision("y", {.average = Average::macro}), largest()},
         .validation_model = &inference_,
         .validation_data = &validation_,
         .callbacks = {early_stopping({.monitor = "val_accuracy",
                                       .higher_is_better = true,
                                       .patience = 1,
                                       .restore_best_weights = true}),
                       best_weights({.monitor = "largest"}), average.callback(), recorder()},
         .checkpoints = {.save =
                             [this](Checkpoint saved) { checkpoints.push_back(std::move(saved)); },
                         .every_updates = every,
                         .resume = resume}},
        stop_.get_token());
  }

  bool was_stopped() const { return stop_.stop_requested(); }

  Model model;
  ModelAverage average;
  std::vector<Checkpoint> checkpoints;
  /// `told` has all numbers that the callbacks were told, as a host writes them down.
  std::vector<std::int64_t> told;

 private:
  void note_call() {
    if (++calls_ == stop_in_) stop_.request_stop();
  }

  Metric largest() {
    return {.name = "largest", .start = [this] {
              note_call();
              return std::make_unique<Largest>();
            }};
  }

  FitCallback recorder() {
    FitCallback callback;
    callback.on_epoch_begin = [this](int, std::int64_t) { note_call(); };
    callback.on_step_begin = [this](const Batch&) { note_call(); };
    callback.on_step_end = [this](const StepRecord& record, const StepResult& result) {
      note_call();
      told.insert(told.end(),
                  {record.epoch, record.step, static_cast<std::int64_t>(record.updates)});
      add_values(told, record.values);
      told.push_back(std::bit_cast<std::int64_t>(result.mean_loss));
      return Next::go_on;
    };
    callback.on_epoch_end = [this](const EpochRecord& record) {
      note_call();
      told.insert(told.end(),
                  {record.epoch, record.steps, static_cast<std::int64_t>(record.updates),
                   record.validation_samples, record.validation_left_out});
      add_values(told, record.values);
      return Next::go_on;
    };
    callback.state_name = "recorder";
    callback.save_state = [this] {
      const Shape shape{std::ssize(told)};
      return SavedState{.tensors = {{"told", Tensor(shape, std::span<const std::int64_t>(told))}}};
    };
    callback.load_state = [this](const SavedState& state) {
      const auto numbers = state.tensor("told").as<std::int64_t>();
      told.assign(numbers.begin(), numbers.end());
    };
    return callback;
  }

  Plan plan_;
  int calls_ = 0, stop_in_ = 0;
  std::stop_source stop_;
  TrainingModel training_;
  InferenceModel inference_;
  DataLoader data_, validation_;
};

void expect_same(const FitRun& a, const FitRun& b) {
  expect_same_weights(a.model, b.model);
  expect_same_weights(a.average.model(), b.average.model());
  EXPECT_EQ(a.told, b.told);
}

TEST(FitCheckpoints, LetATrainingGoOnFromEachOfThem) {
  for (const Plan& plan : plans) {
    FitRun whole(plan), plain(plan);
    const History expected = whole.fit(nullptr, 0, 1);
    EXPECT_GT(whole.checkpoints.size(), 2U) << plan.name;
    for (const Checkpoint& checkpoint : whole.checkpoints) {
      SCOPED_TRACE(plan.name + ", update " + std::to_string(checkpoint.updates));
      FitRun resumed(plan);
      expect_same_history(expected, resumed.fit(&checkpoint));
      expect_same(whole, resumed);
    }
  }
}

TEST(FitCheckpoints, AreMadeWhereverTheHostStops) {
  for (const Plan& plan : plans) {
    FitRun whole(plan);
    const History expected = whole.fit(nullptr);
    for (int stop_in = 1;; ++stop_in) {
      SCOPED_TRACE(plan.name + ", stopped in call " + std::to_string(stop_in));
      FitRun stopped(plan), resumed(plan);
      const History cut = stopped.fit(nullptr, stop_in);
      if (!stopped.was_stopped()) break;
      if (!cut.cancelled) continue;
      if (stopped.checkpoints.empty()) {
        EXPECT_EQ(cut.updates, 0U);
        continue;
      }
      ASSERT_EQ(stopped.checkpoints.size(), 1U);
      EXPECT_EQ(stopped.checkpoints[0].updates, cut.updates);
      expect_same_history(expected, resumed.fit(&stopped.checkpoints[0]));
      expect_same(whole, resumed);
    }
  }
}

TEST(FitCheckpoints, GoOnOnAnotherTopologyAndForMoreEpochs) {
  Plan plan{.name = "longer", .iterations = 2, .replicas = 2, .epochs = 2, .samples = 64};
  FitRun first(plan);
  first.fit(nullptr);
  ASSERT_EQ(first.checkpoints.size(), 1U) << "a training is saved at its end";
  plan.epochs = 3;
  FitRun whole(plan);
  const History expected = whole.fit(nullptr);
  plan.iterations = 1;
  plan.strategy = Strategy::sharded;
  FitRun resumed(plan);
  const History history = resumed.fit(&first.checkpoints[0]);
  EXPECT_EQ(history.updates, expected.updates);
  expect_same_weights(whole.model, resumed.model);
}

TEST(FitCheckpoints, AreMadeEveryNUpdates) {
  const auto updates_of = [](const Plan& plan, std::int64_t every) {
    FitRun run(plan);
    run.fit(nullptr, 0, every);
    std::vector<std::uint64_t> updates;
    for (const Checkpoint& checkpoint : run.checkpoints) updates.push_back(checkpoint.updates);
    return updates;
  };
  using Updates = std::vector<std::uint64_t>;
  EXPECT_EQ(updates_of({.name = "", .epochs = 2, .samples = 16}, 3), (Updates{3, 6, 8}));
  EXPECT_EQ(updates_of({.name = "", .iterations = 2, .epochs = 2, .samples = 16}, 3),
            (Updates{4, 6, 8}));
  EXPECT_EQ(
      updates_of({.name = "", .iterations = 2, .epochs = 2, .max_updates = 7, .samples = 16}, 2),
      (Updates{2, 4, 6}))
      << "the last step is cut short";
}

TEST(FitCheckpoints, AreRefusedIfTheyDoNotFit) {
  FitRun run({.name = ""});
  run.fit(nullptr);
  const Checkpoint& checkpoint = run.checkpoints.at(0);
  Model model = tied_model();
  Options options = options_of({.name = ""});
  TrainingModel training(model, options, AdamW{.learning_rate = 0.05});
  const auto refused = [&](const FitOptions& fit_options, Errc code = Errc::invalid_argument) {
    DataLoader data = loader_of(18, 4, 1);
    const std::string text = refusal(code, [&] { fit(training, data, fit_options); });
    EXPECT_EQ(training.updates(), 0U);
    return text;
  };
  EXPECT_EQ(refused({.checkpoints = {.resume = &checkpoint}}),
            "fit: expected the values loss, accuracy, precision, largest, val_accuracy, "
            "val_precision, val_largest, as the training has that was saved, got loss");
  const FitCallback stopping = early_stopping({.monitor = "loss"});
  EXPECT_EQ(refused({.callbacks = {stopping}, .checkpoints = {.resume = &checkpoint}}),
            "fit: callbacks: expected a checkpoint with the state \"early stopping of loss\", got "
            "one of a training without such a callback");
  const Checkpoint other;
  EXPECT_EQ(refused({.checkpoints = {.resume = &other}}),
            "fit: checkpoints.resume: expected a checkpoint that fit() has made, got another");
  const auto save = [](const Checkpoint&) {};
  EXPECT_EQ(refused({.callbacks = {stopping, stopping}, .checkpoints = {.save = save}}),
            "fit: callbacks: expected states of different names, got \"early stopping of loss\" "
            "twice; FitCallback::state_name tells them apart");
  EXPECT_EQ(refused({.checkpoints = {.save = save, .every_updates = 0}}),
            "fit: checkpoints.every_updates: expected 1 or more, got 0");
  FitCallback half;
  half.state_name = "half";
  half.save_state = [] { return SavedState(); };
  EXPECT_EQ(refused({.callbacks = {half}, .checkpoints = {.save = save}}),
            "fit: callbacks: expected save_state and load_state, got one of them for the state "
            "\"half\"");
  struct Unsaved : MetricState {
    void add(const StepResult&, const Batch&) override {}
    void merge(const MetricState&) override {}
    double value() const override { return 0; }
  };
  const Metric unsaved{.name = "unsaved", .start = [] { return std::make_unique<Unsaved>(); }};
  EXPECT_EQ(refused({.metrics = {unsaved}, .checkpoints = {.save = save}}, Errc::unsupported),
            "metric \"unsaved\": its state cannot be kept in a checkpoint, because its class does "
            "not override MetricState::save");
}

/// Returns the value of `metric` for all samples of two batches, the state of which is saved after
/// the first one if `is_saved`.
double value_after(const Metric& metric, bool is_saved) {
  const auto result = [](std::vector<float> scores) {
    const auto rows = std::ssize(scores);
    StepResult step;
    step.outputs.push_back({"y", Tensor({rows}, std::span<const float>(scores))});
    step.rows = {.micro_batches = {1, rows}};
    return step;
  };
  const Batch labels{
      Tensor({4}, std::span<const std::int64_t>(std::vector<std::int64_t>{0, 1, 1, 0}))};
  std::unique_ptr<MetricState> state = metric.start();
  state->add(result({0.1f, 0.9f, 0.3f, 0.4f}), labels);
  if (is_saved) {
    const SavedState saved = state->save();
    state = metric.start();
    state->load(saved);
  }
  state->add(result({0.2f, 0.35f, 0.7f, 0.6f}), labels);
  return state->value();
}

TEST(FitCheckpoints, KeepWhatEveryMetricHasCounted) {
  for (const Metric& metric :
       {roc_auc("y"), precision("y"), recall("y"), f1_score("y"), perplexity("y")}) {
    EXPECT_EQ(std::bit_cast<std::int64_t>(value_after(metric, true)),
              std::bit_cast<std::int64_t>(value_after(metric, false)))
        << metric.name;
    const std::unique_ptr<MetricState> nothing = metric.start(), same = metric.start();
    same->load(nothing->save());
    EXPECT_TRUE(std::isnan(same->value())) << metric.name;
    EXPECT_NE(refusal(Errc::invalid_data, [&] { same->load({}); }), "accepted") << metric.name;
  }
  EXPECT_NE(refusal(Errc::shape_mismatch,
                    [] {
                      ConfusionMatrix::from_counts(Tensor({2}, {1, 2}));
                    }),
            "accepted");
  const std::vector<std::int64_t> negative{1, -1, 0, 0};
  EXPECT_EQ(refusal(Errc::invalid_data,
                    [&] {
                      ConfusionMatrix::from_counts(Tensor({2, 2}, std::span(negative)));
                    }),
            "confusion matrix: expected counts of 0 or more, got -1");
  const std::int64_t half = std::int64_t{1} << 52;
  const std::vector<std::int64_t> many{half, 0, 1, half};
  EXPECT_EQ(refusal(Errc::invalid_data,
                    [&] {
                      ConfusionMatrix::from_counts(Tensor({2, 2}, std::span(many)));
                    }),
            "confusion matrix: expected counts of at most 9007199254740992 samples, got more");
  for (const std::int64_t count : {std::int64_t{-1}, std::int64_t{1} << 62}) {
    SavedState state = perplexity("y").start()->save();
    state.tensors[0].tensor = Tensor({2}, std::span<const std::int64_t>(std::vector{half, count}));
    EXPECT_EQ(refusal(Errc::invalid_data, [&] { perplexity("y").start()->load(state); }),
              "a saved state: tensor \"score\": expected a count from 0 to 9007199254740992, got " +
                  std::to_string(count));
  }
}

/// Returns a metric called `name` that counts steps, each of them as 1 / `every`.
Metric counted_steps(const std::string& name, int every) {
  struct State : MetricState {
    explicit State(int of_every) : every(of_every) {}
    void add(const StepResult&, const Batch&) override {
      steps += 1.0f / static_cast<float>(every);
    }
    void merge(const MetricState& other) override {
      steps += static_cast<const State&>(other).steps;
    }
    double value() const override { return steps; }
    SavedState save() const override {
      return {.tensors = {{"aux/n", Tensor({}, std::span(&steps, 1))}}};
    }
    void load(const SavedState& saved) override {
      EXPECT_EQ(saved.tensors.size(), 1U) << "the state of another metric is no part of it";
      steps = saved.tensor("aux/n").item();
    }
    int every;
    float steps = 0;
  };
  return {.name = name, .start = [every] { return std::make_unique<State>(every); }};
}

TEST(FitCheckpoints, TellMetricsApartWhoseNamesBeginAlike) {
  const Model model = tied_model();
  const Options options = options_of({.name = ""});
  std::optional<Checkpoint> saved;
  const auto train = [&](const Checkpoint* resume) {
    TrainingModel training(model, options, Sgd{});
    DataLoader data = loader_of(18, 4, 1);
    return fit(training, data,
               {.metrics = {counted_steps("n", 1), counted_steps("n/aux", 2)},
                .checkpoints = {.save =
                                    [&](Checkpoint checkpoint) {
                                      if (!saved) saved = std::move(checkpoint);
                                    },
                                .every_updates = 1,
                                .resume = resume}});
  };
  const History whole = train(nullptr);
  ASSERT_TRUE(saved);
  const History resumed = train(&*saved);
  for (const char* name : {"n", "n/aux"})
    EXPECT_EQ(value_of(resumed.epochs[0].values, name), value_of(whole.epochs[0].values, name));
}

TEST(FitCheckpoints, HaveTheLastEpochInTheStatesOfCallbacks) {
  FitRun whole({.name = ""});
  const History expected = whole.fit(nullptr);
  ASSERT_EQ(whole.checkpoints.size(), 1U);
  const Tensor& told = whole.checkpoints[0].states.at("callback recorder").tensor("told");
  EXPECT_TRUE(std::ranges::equal(told.as<std::int64_t>(), whole.told));
  FitRun resumed({.name = ""});
  expect_same_history(expected, resumed.fit(&whole.checkpoints[0]));
  EXPECT_TRUE(resumed.checkpoints.empty()) << "the training is over at once";
  expect_same(whole, resumed);
}

TEST(FitCheckpoints, AreMadeBeforeAStepThatIsCutShort) {
  Plan plan{.name = "", .iterations = 2, .epochs = 2, .max_updates = 7, .samples = 16};
  FitRun cut(plan);
  cut.fit(nullptr);
  ASSERT_EQ(cut.checkpoints.size(), 1U);
  EXPECT_EQ(cut.checkpoints[0].updates, 6U);
  plan.max_updates = 8;
  FitRun whole(plan), longer(plan);
  expect_same_history(whole.fit(nullptr), longer.fit(&cut.checkpoints[0]));
  expect_same(whole, longer);
}

TEST(FitCheckpoints, EndAnEpochThatHasTakenMoreStepsThanItNowHas) {
  FitRun saved({.name = "five steps", .steps_per_epoch = 5});
  saved.fit(nullptr, 0, 1);
  const auto after_four = std::ranges::find(saved.checkpoints, 4u, &Checkpoint::updates);
  ASSERT_NE(after_four, saved.checkpoints.end());
  FitRun resumed({.name = "three steps", .epochs = 1, .steps_per_epoch = 3});
  const History history = resumed.fit(&*after_four);
  ASSERT_EQ(history.epochs.size(), 1u);
  EXPECT_EQ(history.epochs.front().steps, 4);
}

}  // namespace
}  // namespace penstock::testing
