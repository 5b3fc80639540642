// These tests check that exceptions that functions of the host's throw reach the host as they are.
// This holds even for a std::length_error, although the engine takes a std::length_error of its own
// for a lack of memory. A std::bad_alloc always becomes Error out_of_memory.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "penstock/composed_datasets.hpp"
#include "penstock/error.hpp"
#include "penstock/fit.hpp"
#include "penstock/sequential.hpp"
#include "penstock/transforms.hpp"
#include "tests/engine/fit/scaling.hpp"
#include "tests/support/numbered_samples.hpp"

namespace penstock {
namespace {

using testing::numbers;
using testing::per_step;
using testing::Scaling;

/// A HostsOwn is an exception of a class that only this host knows.
struct HostsOwn : std::length_error {
  using std::length_error::length_error;
};

/// A HostsError is an Error of a class that only this host knows. It has more than a code and a
/// text, so that the host can tell it from an Error of the engine.
struct HostsError : Error {
  HostsError() : Error(Errc::cancelled, "mine") {}
  int number = 7;
};

/// A Call makes a call in which the engine calls `thrower`, which is a function of the host's.
using Call = std::function<void(const std::function<void()>& thrower)>;

/// A Speechless is a dataset that throws when it is asked for its size or for its fields.
class Speechless : public testing::NumberedSamples {
 public:
  Speechless(std::function<void()> on_size, std::function<void()> on_fields)
      : NumberedSamples(4), on_size_(std::move(on_size)), on_fields_(std::move(on_fields)) {}
  std::int64_t size() const override {
    on_size_();
    return NumberedSamples::size();
  }
  const std::vector<Field>& fields() const override {
    on_fields_();
    return NumberedSamples::fields();
  }

 private:
  std::function<void()> on_size_, on_fields_;
};

void construct(const RuntimeOptions& runtime) {
  Options options = testing::options();
  options.runtime = runtime;
  TrainingModel(Scaling().model, options);
}

void step_with_log(const std::function<void()>& thrower) {
  const Scaling scaling;
  bool armed = false;
  Options options = testing::options();
  options.runtime.log_level = LogLevel::debug;
  options.runtime.log = [&](std::string_view) {
    if (armed) thrower();
  };
  TrainingModel training(scaling.model, options);
  armed = true;
  training.step(std::vector{Tensor::zeros(DType::f32, {per_step, 1})});
}

void fit_with(const FitOptions& options) {
  const Scaling scaling;
  TrainingModel training(scaling.model, testing::options());
  DataLoader data = numbers(per_step);
  fit(training, data, options);
}

void evaluate_with(const std::vector<Metric>& metrics, const std::function<void()>& on_batch) {
  const Scaling scaling;
  InferenceModel inference(scaling.model, testing::options());
  DataLoader data = numbers(per_step);
  evaluate(inference, data, metrics, on_batch);
}

Metric metric_that(const std::function<void()>& scores, const std::function<void()>& checks) {
  return {.name = "own",
          .score =
              [=](const StepResult&, const Batch&) {
                scores();
                return Score{};
              },
          .check = [=](const StepResult&) { checks(); }};
}

/// Throws is a state of a metric, each of whose functions calls a function of the host's.
class Throws : public MetricState {
 public:
  Throws(const std::function<void()>& adds, const std::function<void()>& merges,
         const std::function<void()>& values)
      : adds_(adds), merges_(merges), values_(values) {}
  void add(const StepResult&, const Batch&) override { adds_(); }
  void merge(const MetricState&) override { merges_(); }
  double value() const override {
    values_();
    return 0;
  }

 private:
  std::function<void()> adds_, merges_, values_;
};

Metric state_that(const std::function<void()>& adds, const std::function<void()>& merges,
                  const std::function<void()>& values) {
  return {.name = "own", .start = [=] { return std::make_unique<Throws>(adds, merges, values); }};
}

void load_sampled(const std::function<void()>& thrower) {
  const auto samples = std::make_shared<testing::NumberedSamples>(4);
  DataLoader(samples, 2, {.sampler = [&](std::uint64_t) -> std::vector<std::int64_t> {
               thrower();
               return {};
             }});
}

void load_batches(const std::function<void()>& thrower) {
  const auto samples = std::make_shared<testing::NumberedSamples>(4);
  const BatchSampler sampler = [&](std::uint64_t) -> std::vector<std::vector<std::int64_t>> {
    thrower();
    return {};
  };
  DataLoader(samples, sampler, 1);
}

const std::function<void()> nothing = [] {};

std::vector<Tensor> unchanged(const std::vector<Tensor>& sample, const SampleRequest&) {
  return sample;
}

std::vector<std::pair<std::string, Call>> calls() {
  using Thrower = const std::function<void()>&;
  const auto speechless_size = [](Thrower t) { return std::make_shared<Speechless>(t, nothing); };
  const auto speechless = [](Thrower t) { return std::make_shared<Speechless>(nothing, t); };
  return {
      {"compile_progress",
       [](Thrower t) { construct({.compile_progress = [&](const CompileProgress&) { t(); }}); }},
      {"log of a constructor",
       [](Thrower t) { construct({.log = [&](std::string_view) { t(); }}); }},
      {"log of a step", step_with_log},
      {"a metric's score", [](Thrower t) { fit_with({.metrics = {metric_that(t, nothing)}}); }},
      {"a metric's check", [](Thrower t) { fit_with({.metrics = {metric_that(nothing, t)}}); }},
      {"a state's add",
       [](Thrower t) { fit_with({.metrics = {state_that(t, nothing, nothing)}}); }},
      {"a state's merge",
       [](Thrower t) { fit_with({.metrics = {state_that(nothing, t, nothing)}}); }},
      {"a state's value", [](Thrower t) { evaluate_with({state_that(nothing, nothing, t)}, {}); }},
      {"a metric's start",
       [](Thrower t) {
         fit_with({.metrics = {{.name = "own", .start = [&]() -> std::unique_ptr<MetricState> {
                                  t();
                                  return nullptr;
                                }}}});
       }},
      {"on_fit_begin",
       [](Thrower t) { fit_with({.callbacks = {{.on_fit_begin = [&](const auto&) { t(); }}}}); }},
      {"on_step_begin",
       [](Thrower t) { fit_with({.callbacks = {{.on_step_begin = [&](const auto&) { t(); }}}}); }},
      {"on_batch", [](Thrower t) { evaluate_with({}, t); }},
      {"a score of evaluate()", [](Thrower t) { evaluate_with({metric_that(t, nothing)}, {}); }},
      {"a layer of a chain",
       [](Thrower t) {
         Model model;
         Sequential(model, model.input("x", {3})).add([&](Model&, Value x) {
           t();
           return x;
         });
       }},
      {"a sampler", load_sampled},
      {"a batch sampler", load_batches},
      {"a dataset's size", [=](Thrower t) { DataLoader(speechless_size(t), 2); }},
      {"a dataset's fields", [=](Thrower t) { DataLoader(speechless(t), 2); }},
      {"first_samples", [=](Thrower t) { first_samples(speechless_size(t), 2); }},
      {"random_crop", [=](Thrower t) { random_crop(speechless(t), {}); }},
      {"split_by_counts", [=](Thrower t) { split_by_counts(speechless_size(t), {2}); }},
      {"concat_datasets", [=](Thrower t) { concat_datasets({speechless(t)}); }},
      {"map_dataset", [=](Thrower t) { map_dataset(speechless(t), {{}}, unchanged); }},
  };
}

TEST(HostsExceptions, PassAsTheyAre) {
  for (const auto& [name, call] : calls()) {
    SCOPED_TRACE(name);
    EXPECT_THROW(call([] { throw HostsOwn("mine"); }), HostsOwn);
    EXPECT_THROW(call([] { throw std::runtime_error("mine"); }), std::runtime_error);
    EXPECT_THROW(call([] { throw 7; }), int);
  }
}

TEST(HostsExceptions, OfAClassDerivedFromErrorAreNotCutDownToThat) {
  for (const auto& [name, call] : calls()) {
    SCOPED_TRACE(name);
    EXPECT_THROW(call([] { throw HostsError(); }), HostsError);
  }
}

// The host's Error has the code cancelled. An Error of the engine with that code would only mean
// the stop that the host has asked for.
TEST(HostsExceptions, ArePassedOnByAFitThatIsAskedToStop) {
  const Scaling scaling;
  TrainingModel training(scaling.model, testing::options());
  InferenceModel inference(scaling.model, testing::options());
  DataLoader data = numbers(per_step), validation = numbers(per_step);
  std::stop_source stop;
  int scores = 0;
  const auto score = [&](const StepResult&, const Batch&) -> Score {
    if (++scores == 1) return {};
    stop.request_stop();
    throw HostsError();
  };
  FitOptions options{.metrics = {{.name = "own", .score = score}},
                     .validation_model = &inference,
                     .validation_data = &validation};
  EXPECT_THROW(fit(training, data, options, stop.get_token()), HostsError);
}

TEST(HostsExceptions, OfALackOfMemoryAreAnErrorLikeTheEnginesOwn) {
  for (const auto& [name, call] : calls()) {
    SCOPED_TRACE(name);
    try {
      call([] { throw std::bad_alloc(); });
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::out_of_memory) << error.what();
    }
  }
}

}  // namespace
}  // namespace penstock
