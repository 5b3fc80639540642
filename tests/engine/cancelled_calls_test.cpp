// Calls of a host's that are asked to stop.
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::testing {
namespace {

constexpr int updates = 6;
constexpr std::int64_t per_update = 4;

/// With dropout and batch statistics, whose numbers depend on which micro-batches came before.
struct Trainee {
  Model model = tied_model();
  TrainingModel training{model, options_for(2, 2, updates), AdamW{.learning_rate = 0.05}};

  void step(std::int64_t begin, std::int64_t end, const std::stop_token& stop = {}) {
    std::vector<Tensor> rows;
    for (const Tensor& tensor : samples(end, true)) rows.push_back(tensor.rows(begin, end));
    if (begin < end) training.step(rows, stop);
  }
};

std::stop_token stopped() {
  std::stop_source source;
  source.request_stop();
  return source.get_token();
}

void expect_same(const Trainee& a, const Trainee& b) {
  expect_same_weights(a.model, b.model);
  const auto of_a = a.training.optimizer_state(), of_b = b.training.optimizer_state();
  ASSERT_EQ(of_a.size(), of_b.size());
  for (std::size_t i = 0; i < of_a.size(); ++i)
    EXPECT_TRUE(same_bits(of_a[i].tensor, of_b[i].tensor)) << of_a[i].name;
}

TEST(CancelledCalls, DoNothingIfTheyWereAskedToStopBefore) {
  Trainee cut, untouched;
  const std::int64_t all = updates * per_update;
  EXPECT_EQ(refusal(Errc::cancelled, [&] { cut.step(0, all, stopped()); }),
            "step: was asked to stop, and has done 0 of 6 updates; the model goes on from there");
  EXPECT_EQ(refusal(Errc::cancelled, [&] { cut.step(0, 3, stopped()); }),
            "step: was asked to stop, and has done 0 of 1 update; the model goes on from there");
  EXPECT_EQ(cut.training.updates(), 0U);
  cut.step(0, all);
  untouched.step(0, all);
  expect_same(cut, untouched);
}

TEST(CancelledCalls, GoOnFromTheUpdatesThatWereDoneWheneverTheyAreStopped) {
  const std::int64_t all = updates * per_update;
  Trainee whole;
  whole.step(0, all);
  whole.step(0, all - 2);  // whose last update is short
  for (int delay = 0; delay < 40; ++delay) {
    Trainee cut;
    std::stop_source stop;
    auto stopper = std::async(std::launch::async, [&] {
      for (int i = 0; i < 20 * delay; ++i) std::this_thread::yield();
      stop.request_stop();
    });
    const std::string text = refusal(Errc::cancelled, [&] { cut.step(0, all, stop.get_token()); });
    const std::uint64_t done = cut.training.updates();
    EXPECT_EQ(text == "accepted", done == updates) << text;
    if (done < updates) {
      EXPECT_NE(text.find("has done " + std::to_string(done) + " of 6 updates"), text.npos) << text;
    }
    stopper.get();
    cut.step(static_cast<std::int64_t>(done) * per_update, all);
    cut.step(0, all - 2);
    expect_same(cut, whole);
  }
}

TEST(CancelledCalls, OfInferenceReturnNothingAndLeaveTheModelAsItWas) {
  const Model model = plain_model();
  InferenceModel serving(model, options_for(2, 1, 4));
  const std::vector inputs{samples(8, false)[0]};
  const Tensor expected = serving.run(inputs).output("y");
  EXPECT_EQ(
      refusal(Errc::cancelled, [&] { serving.run(inputs, stopped()); }),
      "run: was asked to stop before it had run on all of its 8 samples, and returns nothing");
  EXPECT_TRUE(same_bits(serving.run(inputs).output("y"), expected));
  const std::vector ragged{samples(7, false)[0]};
  EXPECT_NE(refusal(Errc::cancelled, [&] { serving.run(ragged, stopped()); }), "accepted");
  EXPECT_EQ(serving.run(ragged).output("y").shape()[0], 7);
}

/// Training of 8 samples a step, for fit().
struct Fitted {
  Model model = plain_model();
  TrainingModel training{model, options_for(2, 2, 2), Sgd{.learning_rate = 0.1}};
  InferenceModel serving{model, options_for(2, 1, 4)};
  DataLoader data{tensor_dataset(samples(40, false)), 8};
};

TEST(CancelledCalls, OfFitKeepWhatWasTrainedAndSaySo) {
  Fitted cut, whole;
  std::stop_source stop;
  int told = 0;
  FitOptions options{.epochs = 3};
  options.callbacks.push_back({.on_step_end =
                                   [&](const StepRecord& record, const StepResult&) {
                                     ++told;
                                     if (record.epoch == 2 && record.step == 3) stop.request_stop();
                                     return Next::go_on;
                                   },
                               .on_epoch_end =
                                   [&](const EpochRecord&) {
                                     ++told;
                                     return Next::go_on;
                                   }});
  const History history = fit(cut.training, cut.data, options, stop.get_token());
  EXPECT_TRUE(history.cancelled);
  EXPECT_EQ(history.epochs.size(), 1U);
  EXPECT_EQ(history.updates, 16U);
  EXPECT_EQ(told, 5 + 1 + 3);
  FitOptions as_many{.epochs = 3, .max_updates = 16};
  EXPECT_FALSE(fit(whole.training, whole.data, as_many).cancelled);
  expect_same_weights(cut.model, whole.model);
}

TEST(CancelledCalls, OfFitEndInItsEvaluationToo) {
  Fitted fitted;
  std::stop_source stop;
  DataLoader validation(tensor_dataset(samples(16, false)), 8);
  FitOptions options{
      .epochs = 3, .validation_model = &fitted.serving, .validation_data = &validation};
  options.callbacks.push_back({.on_step_end = [&](const StepRecord& record, const StepResult&) {
    if (record.step == 5) stop.request_stop();
    return Next::go_on;
  }});
  const History history = fit(fitted.training, fitted.data, options, stop.get_token());
  EXPECT_TRUE(history.cancelled);
  EXPECT_EQ(history.updates, 10U);
}

TEST(CancelledCalls, OfEvaluateAndPredictThrow) {
  Fitted fitted;
  const auto calls = {
      std::function<void()>([&] { evaluate(fitted.serving, fitted.data, {}, {}, stopped()); }),
      std::function<void()>([&] { predict(fitted.serving, fitted.data, stopped()); }),
      std::function<void()>([&] { predict(fitted.serving, {samples(20, false)[0]}, stopped()); })};
  for (const auto& call : calls) EXPECT_NE(refusal(Errc::cancelled, call), "accepted");
  EXPECT_EQ(predict(fitted.serving, {samples(20, false)[0]}).at(0).tensor.shape()[0], 20);
}

}  // namespace
}  // namespace penstock::testing
