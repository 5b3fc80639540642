// A host may ask a call to stop at any time. These tests check that the call says what it has done,
// and that the model goes on from there.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/engine/held_kernel.hpp"
#include "tests/engine/kinds_of_loaders.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/numbered_samples.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/sanitized.hpp"

namespace penstock::testing {
namespace {

constexpr int updates = 6;
constexpr std::int64_t per_update = 4;

/// A Trainee has a training with dropout and batch statistics, so that its numbers depend on the
/// micro-batches that came before. The kernel of the dropout is held in run number `held_run`.
struct Trainee {
  explicit Trainee(int held_run = -1) : kernel(model, "dropout", held_run) {}

  Model model = tied_model();
  HeldKernel kernel;
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
  expect_same_state(a.training.optimizer_state(), b.training.optimizer_state());
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

/// Makes `call` on another thread, and asks it to stop while it is held in `kernel`. Returns the
/// text of the error with which the call ends, or "accepted".
std::string stopped_inside(const HeldKernel& kernel,
                           const std::function<void(const std::stop_token&)>& call) {
  std::stop_source stop;
  auto text = std::async(std::launch::async,
                         [&] { return refusal(Errc::cancelled, [&] { call(stop.get_token()); }); });
  EXPECT_TRUE(kernel.await());
  stop.request_stop();
  kernel.let_go();
  return text.get();
}

TEST(CancelledCalls, GoOnFromTheUpdatesThatWereDoneWhicheverMicroBatchTheStopComesIn) {
  constexpr std::int64_t all = updates * per_update;
  Trainee whole;
  whole.step(0, all);
  whole.step(0, all - 2);  // The last update of this step is short.
  std::set<std::uint64_t> seen;
  for (int micro_batch = 0; micro_batch < 2 * updates; ++micro_batch) {
    Trainee cut(micro_batch);
    const std::string text =
        stopped_inside(cut.kernel, [&](const std::stop_token& stop) { cut.step(0, all, stop); });
    const std::uint64_t done = cut.training.updates();
    seen.insert(done);
    EXPECT_GT(done, static_cast<std::uint64_t>(micro_batch) / 2) << "it had begun, and is finished";
    EXPECT_LE(done, static_cast<std::uint64_t>(micro_batch) / 2 + 3) << "the stop came too late";
    EXPECT_EQ(text, done == updates
                        ? "accepted"
                        : "step: was asked to stop, and has done " + std::to_string(done) +
                              " of 6 updates; the model goes on from there");
    cut.step(static_cast<std::int64_t>(done) * per_update, all);
    cut.step(0, all - 2);
    expect_same(cut, whole);
  }
  EXPECT_GT(seen.size(), 3U) << "stops came in the middle of too few updates";
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

TEST(CancelledCalls, OfInferenceReturnNothingIfTheStopComesWhileAKernelRuns) {
  for (const int micro_batch : {0, 1, 3}) {
    const Model model = plain_model();
    const HeldKernel kernel(model, "tanh", micro_batch);
    InferenceModel serving(model, options_for(2, 1, 20));
    const std::vector inputs{samples(40, false)[0]};
    const auto run = [&](const std::stop_token& stop) { serving.run(inputs, stop); };
    EXPECT_EQ(
        stopped_inside(kernel, run),
        "run: was asked to stop before it had run on all of its 40 samples, and returns nothing");
    InferenceModel undisturbed(plain_model(), options_for(2, 1, 20));
    EXPECT_TRUE(same_bits(serving.run(inputs).output("y"), undisturbed.run(inputs).output("y")));
  }
}

/// A Fitted has what fit() needs to train in steps of 8 samples. The kernel of the tanh is held in
/// run number `held_run`.
struct Fitted {
  explicit Fitted(int held_run = -1) : kernel(model, "tanh", held_run) {}

  Model model = plain_model();
  HeldKernel kernel;
  TrainingModel training{model, options_for(2, 2, 2), Sgd{.learning_rate = 0.1}};
  InferenceModel serving{model, options_for(2, 1, 4)};
  DataLoader data{tensor_dataset(samples(40, false)), 8};
};

TEST(CancelledCalls, OfFitKeepWhatWasTrainedAndSaySo) {
  Fitted cut, whole;
  std::stop_source stop;
  int callbacks = 0;
  FitOptions options{.epochs = 3};
  options.callbacks.push_back({.on_step_end =
                                   [&](const StepRecord& record, const StepResult&) {
                                     ++callbacks;
                                     if (record.epoch == 2 && record.step == 3) stop.request_stop();
                                     return Next::go_on;
                                   },
                               .on_epoch_end =
                                   [&](const EpochRecord&) {
                                     ++callbacks;
                                     return Next::go_on;
                                   }});
  const History history = fit(cut.training, cut.data, options, stop.get_token());
  EXPECT_TRUE(history.cancelled);
  EXPECT_EQ(history.epochs.size(), 1U);
  EXPECT_EQ(history.updates, 16U);
  EXPECT_EQ(callbacks, 5 + 1 + 3);
  FitOptions as_many{.epochs = 3, .max_updates = 16};
  EXPECT_FALSE(fit(whole.training, whole.data, as_many).cancelled);
  expect_same_weights(cut.model, whole.model);
}

TEST(CancelledCalls, OfFitKeepWhatWasTrainedIfTheStopComesWhileAKernelRuns) {
  for (const int micro_batch : {0, 5, 22}) {
    Fitted cut(micro_batch), whole;
    History history;
    stopped_inside(cut.kernel, [&](const std::stop_token& stop) {
      history = fit(cut.training, cut.data, {.epochs = 3}, stop);
    });
    EXPECT_TRUE(history.cancelled);
    EXPECT_EQ(history.updates, cut.training.updates());
    EXPECT_GT(history.updates, static_cast<std::uint64_t>(micro_batch) / 2);
    EXPECT_LE(history.updates, static_cast<std::uint64_t>(micro_batch) / 2 + 2);
    const FitOptions as_many{.epochs = 3, .max_updates = history.updates};
    EXPECT_FALSE(fit(whole.training, whole.data, as_many).cancelled);
    expect_same_weights(cut.model, whole.model);
  }
}

TEST(CancelledCalls, OfFitEndWhileADatasetReadsOn) {
  Model model("numbers");
  model.loss(model.cross_entropy(model.linear("fc", model.input("x", {2}), 8), model.labels()));
  TrainingModel training(model, options_for(2, 1, 1));
  const HeldRead held;
  std::stop_source stop;
  DataLoader data = eight_samples(all_loader_kinds[0], held.before(false));
  auto history =
      std::async(std::launch::async, [&] { return fit(training, data, {}, stop.get_token()); });
  held.await_begin();
  stop.request_stop();
  EXPECT_TRUE(history.get().cancelled);
  EXPECT_EQ(training.updates(), 0U);
  held.let_go();
}

TEST(CancelledCalls, OfFitEndInItsEvaluationToo) {
  Fitted fitted;
  std::stop_source stop;
  DataLoader validation(tensor_dataset(samples(16, false)), 8);
  FitOptions options{.epochs = 3,
                     .metrics = {mean_of("y")},
                     .validation_model = &fitted.serving,
                     .validation_data = &validation};
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

TEST(CancelledCalls, OfEvaluateAndPredictThrowIfTheStopComesWhileAKernelRuns) {
  using Call = std::function<void(Fitted&, const std::stop_token&)>;
  for (const Call& call : {Call([](Fitted&fitted, const std::stop_token&stop) {
                             evaluate(fitted.serving, fitted.data, {}, {}, stop);
                           }),
                           Call([](Fitted&fitted, const std::stop_token&stop) {
                             predict(fitted.serving, fitted.data, stop);
                           }),
                           Call([](Fitted&fitted, const std::stop_token&stop) {
                             predict(fitted.serving, {samples(40, false)[0]}, stop);
                           })}) {
    Fitted fitted(5);
    const std::string text =
        stopped_inside(fitted.kernel, [&](const std::stop_token& stop) { call(fitted, stop); });
    EXPECT_NE(text, "accepted");
  }
}

// AddressSanitizer loses its way in a stack that a cancellation unwinds.
TEST(CancelledCalls, OfACancelledThreadComeToTheirEndFirst) {
  if (address_sanitized) return;
  Trainee trainee(0), untouched;
  const std::int64_t all = updates * per_update;
  bool done = false, went_on = false;
  std::thread caller([&] {
    trainee.step(0, all);
    done = true;
    pthread_testcancel();
    went_on = true;
  });
  ASSERT_TRUE(trainee.kernel.await());
  EXPECT_EQ(pthread_cancel(caller.native_handle()), 0);
  trainee.kernel.let_go();
  caller.join();
  EXPECT_TRUE(done);
  EXPECT_FALSE(went_on);
  untouched.step(0, all);
  expect_same(trainee, untouched);
  trainee.step(0, all);
}

// The destructor waits for the dataset's code, which is a point at which threads are cancelled.
TEST(CancelledCalls, OfALoaderComeToTheirEndFirst) {
  if (address_sanitized) return;
  HeldRead held;
  std::optional<DataLoader> loader =
      eight_samples(all_loader_kinds[0], held.before(false), {.stop_seconds = 0.2});
  loader->start_epoch();
  held.await_begin();
  std::atomic<bool> is_cancelled = false, done = false, went_on = false;
  std::thread owner([&] {
    while (!is_cancelled) {
    }
    loader.reset();
    done = true;
    pthread_testcancel();
    went_on = true;
  });
  EXPECT_EQ(pthread_cancel(owner.native_handle()), 0);
  is_cancelled = true;
  owner.join();
  EXPECT_TRUE(done);
  EXPECT_FALSE(went_on);
  held.let_go();
}

/// A CancellableSamples has a point at which threads are cancelled wherever a loader calls it or
/// drops it on the host's thread.
class CancellableSamples : public NumberedSamples {
 public:
  CancellableSamples() : NumberedSamples(8) {}
  ~CancellableSamples() override { pthread_testcancel(); }
  std::int64_t size() const override {
    pthread_testcancel();
    return NumberedSamples::size();
  }
};

TEST(CancelledCalls, OfALoadersConstructorAndDestructorComeToTheirEndInTheDatasetToo) {
  if (address_sanitized) return;
  std::optional<DataLoader> loader;
  std::atomic<int> stages = 0;
  std::thread owner([&] {
    pthread_cancel(pthread_self());
    loader.emplace(std::make_shared<CancellableSamples>(), 2);
    ++stages;
    loader.reset();
    ++stages;
    pthread_testcancel();
    ++stages;
  });
  owner.join();
  EXPECT_EQ(stages, 2);
}

}  // namespace
}  // namespace penstock::testing
