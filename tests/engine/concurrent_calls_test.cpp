// These tests check what happens to a host that calls one Model, and models made of it, from
// several threads.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/short_call_models.hpp"
#include "tests/support/latch.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::testing {
namespace {

using Calls = std::map<std::string, std::function<void()>>;

/// A HeldHost has options with a log that holds a call until hold() lets the call go.
class HeldHost {
 public:
  Options options() {
    Options options = with_limit(0);
    options.runtime.log_level = LogLevel::debug;
    options.runtime.log = [this](std::string_view) {
      if (!armed_.exchange(false)) return;
      inside_.open();
      go_on_.wait();
      is_released_ = true;
    };
    return options;
  }

  /// Makes `call` on another thread, and calls `beside` once the log holds `call`. Then lets `call`
  /// go on.
  void hold(const std::function<void()>& call, const std::function<void()>& beside) {
    armed_ = true;
    auto held = std::async(std::launch::async, call);
    ASSERT_TRUE(inside_.wait());
    beside();
    go_on_.open();
    held.get();
  }

  /// Returns whether the call that was held has been let go.
  bool is_released() const { return is_released_; }

 private:
  std::atomic<bool> armed_{false}, is_released_{false};
  Latch inside_, go_on_;
};

DataLoader loader_of(std::int64_t count) {
  return {tensor_dataset(samples(count)), full};
}

/// Returns all calls of a Model and of a training and an inference model that are made of it.
Calls all_calls(Model& model, TrainingModel& training, InferenceModel& serving,
                const std::string& path) {
  Calls calls{{"step", [&] { training.step(samples(full)); }},
              {"short step", [&] { training.step(samples(remainder)); }},
              {"run", [&] { serving.run(samples(full)); }},
              {"weight", [&] { model.weight("fc.weight"); }},
              {"set_weight", [&] { model.set_weight("fc.bias", Tensor::zeros(DType::f32, {3})); }},
              {"save_weights", [&] { model.save_weights(path); }},
              {"save_onnx", [&] { model.save_onnx(path + ".onnx"); }},
              {"load_weights", [&] { model.load_weights(path); }},
              {"parameters", [&] { model.parameters(); }},
              {"clone", [&] { model.clone(); }},
              {"input", [&] { model.input("more", {4}); }},
              {"layer", [&] { model.linear("more", model.parameter("fc.weight"), 2); }},
              {"block", [&] { auto block = model.block(); }},
              {"stage_assignment", [&] { model.stage_assignment(); }},
              {"construct training", [&] { TrainingModel(model, with_limit(0)); }},
              {"construct serving", [&] { InferenceModel(model, with_limit(0)); }},
              {"optimizer_state", [&] { training.optimizer_state(); }},
              {"set_optimizer_state", [&] { training.set_optimizer_state({}); }},
              {"save_optimizer_state", [&] { training.save_optimizer_state(path); }},
              {"load_optimizer_state", [&] { training.load_optimizer_state(path); }},
              {"set_optimizer", [&] { training.set_optimizer(Sgd{}); }},
              {"buffer", [&] { training.buffer("norm.running_mean", 0); }},
              {"detach", [&] { training.detach(); }},
              {"attach", [&] { training.attach(); }},
              {"detach serving", [&] { serving.detach(); }},
              {"attach serving", [&] { serving.attach(); }},
              {"stage_reports", [&] { training.stage_reports(); }},
              {"stage_reports serving", [&] { serving.stage_reports(); }},
              {"take_trace", [&] { training.take_trace(); }},
              {"take_trace serving", [&] { serving.take_trace(); }}};
  calls["fit"] = [&] {
    DataLoader data = loader_of(full);
    fit(training, data);
  };
  calls["evaluate"] = [&] {
    DataLoader data = loader_of(full);
    evaluate(serving, data, {});
  };
  calls["predict"] = [&] { predict(serving, samples(full)); };
  return calls;
}

void expect_busy(const Calls& calls, const std::string& held) {
  for (const auto& [name, call] : calls) {
    const std::string text = refusal(Errc::busy, call);
    EXPECT_EQ(text.find("model \"network\": "), 0U) << name << ": " << text;
    EXPECT_NE(text.find("another thread is in " + held + ";"), text.npos) << name << ": " << text;
  }
}

TEST(ConcurrentCalls, AreRefusedWhateverTheyAreAndWhateverIsUnderWay) {
  const TemporaryDirectory directory;
  const std::string path = directory / "weights";
  const std::string names[] = {"TrainingModel::step", "InferenceModel::run", "Model::weight",
                               "TrainingModel::detach", "the constructor of a TrainingModel"};
  for (const std::string& name : names) {
    HeldHost host;
    Model model = network();
    TrainingModel training(model, host.options());
    InferenceModel serving(model, host.options());
    training.step(samples(full));
    Model copy = model;
    std::optional<TrainingModel> made;
    const Calls held{{names[0], [&] { training.step(samples(full)); }},
                     {names[1], [&] { serving.run(samples(full)); }},
                     {names[2], [&] { model.weight("fc.weight"); }},
                     {names[3], [&] { training.detach(); }},
                     {names[4], [&] { made.emplace(model, host.options()); }}};
    host.hold(held.at(name), [&] { expect_busy(all_calls(copy, training, serving, path), name); });
    // The refused calls have changed nothing, and all models go on.
    EXPECT_EQ(training.updates(), name == names[0] ? 2U : 1U);
    training.step(samples(full));
    serving.run(samples(full));
  }
}

TEST(ConcurrentCalls, LeaveWhatNeedsNoCallToBeAskedBesideOne) {
  HeldHost host;
  const Model model = network();
  TrainingModel training(model, host.options(), Sgd{.learning_rate = 0.5});
  InferenceModel serving(model, host.options());
  host.hold([&] { training.step(samples(full)); },
            [&] {
              EXPECT_LE(training.updates(), 1U);
              EXPECT_TRUE(training.attached());
              EXPECT_TRUE(serving.attached());
              EXPECT_EQ(training.options().batch_size, full);
              EXPECT_EQ(std::get<Sgd>(training.optimizer().settings).learning_rate, 0.5);
              EXPECT_EQ(training.learning_rate(), 0.5);
              EXPECT_EQ(training.last_call().inputs.size(), 0U);
              EXPECT_EQ(serving.last_call().seconds, 0);
              EXPECT_EQ(serving.weight_uploads(), 0U);
              EXPECT_EQ(training.outline().outputs.size(), 1U);
              EXPECT_EQ(model.name(), "network");
            });
}

/// Calls `end`, which destroys a model or assigns to one, on another thread while a step of another
/// model of the same `Model` is under way. Expects that `end` waits until the step has returned.
void expect_to_wait_for_a_step(const Model& model, const std::function<void()>& end) {
  HeldHost host;
  TrainingModel training(model, host.options());
  std::promise<int> thread;
  std::future<bool> was_released;
  host.hold([&] { training.step(samples(full)); },
            [&] {
              was_released = std::async(std::launch::async, [&] {
                thread.set_value(thread_number());
                end();
                return host.is_released();
              });
              EXPECT_TRUE(comes_to_wait(thread.get_future().get()));
              // `end` waits for threads of the engine, too, but these end in less time.
              EXPECT_EQ(was_released.wait_for(std::chrono::milliseconds(200)),
                        std::future_status::timeout);
            });
  EXPECT_TRUE(was_released.get()) << "it has not waited";
  training.step(samples(full));
}

TEST(ConcurrentCalls, AreWaitedForByDestructors) {
  const Model model = network();
  std::optional<InferenceModel> serving(std::in_place, model, with_limit(0));
  expect_to_wait_for_a_step(model, [&] { serving.reset(); });
  std::optional<TrainingModel> newest(std::in_place, model, with_limit(0));
  newest->step(samples(full));
  expect_to_wait_for_a_step(model, [&] { newest.reset(); });
}

TEST(ConcurrentCalls, AreWaitedForByAssignments) {
  const Model model = network();
  InferenceModel serving(model, with_limit(0)), other_serving(network(), with_limit(0));
  expect_to_wait_for_a_step(model, [&] { serving = std::move(other_serving); });
  TrainingModel training(model, with_limit(0)), other_training(network(), with_limit(0));
  training.step(samples(full));
  expect_to_wait_for_a_step(model, [&] { training = std::move(other_training); });
}

// A Model is one of many handles of the same content. A call keeps that content itself.
TEST(ConcurrentCalls, AreNotWaitedForByAnotherHandleOfTheModel) {
  const Model model = network();
  std::optional<Model> copy = model, assigned = model;
  HeldHost host;
  TrainingModel training(model, host.options());
  host.hold([&] { training.step(samples(full)); },
            [&] {
              copy.reset();
              *assigned = network();
              EXPECT_FALSE(host.is_released());
            });
  training.step(samples(full));
}

// A progress function runs in the middle of the construction of a model, and a log at the end of
// it.
TEST(ConcurrentCalls, OfTheSameThreadAreRefusedInTheMiddleOfAnotherAndTakenAtItsEnd) {
  Model model = network();
  std::string text;
  int logged = 0;
  Options options = with_limit(0);
  options.runtime.compile_progress = [&](const CompileProgress&) {
    text = refusal(Errc::busy, [&] { model.weight("fc.weight"); });
  };
  options.runtime.log = [&](std::string_view) {
    model.weight("fc.weight");
    ++logged;
  };
  const TrainingModel training(model, options);
  EXPECT_EQ(text,
            "model \"network\": Model::weight cannot begin, for it was called from inside the "
            "constructor of a TrainingModel, which is not done; call it when that has returned");
  EXPECT_GT(logged, 0);
}

TEST(ConcurrentCalls, OfFitsCallbacksAreTakenAndThoseOfOtherThreadsRefusedBetweenItsSteps) {
  const Model model = network();
  TrainingModel training(model, with_limit(0));
  DataLoader data = loader_of(3 * full);
  std::string other;
  FitOptions options;
  options.callbacks.push_back({.on_step_end = [&](const StepRecord&, const StepResult&) {
    model.weight("fc.weight");
    training.optimizer_state();
    other = std::async(std::launch::async, [&] {
              return refusal(Errc::busy, [&] { model.weight("fc.weight"); });
            }).get();
    return Next::go_on;
  }});
  EXPECT_EQ(fit(training, data, options).updates, 3U);
  EXPECT_NE(other.find("another thread is in fit;"), other.npos) << other;
}

/// Makes `call` again and again until it has been accepted `count` times.
void insist(int count, const std::function<void()>& call) {
  for (int done = 0; done < count;) {
    try {
      call();
      ++done;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), Errc::busy) << error.what();
      std::this_thread::yield();
    }
  }
}

TEST(ConcurrentCalls, TrainToTheSameBitsAsTheirUpdatesOneAfterTheOther) {
  constexpr int times = 40;
  const Model model = network(), alone = network();
  TrainingModel training(model, with_limit(0), AdamW{.learning_rate = 0.01});
  InferenceModel serving(model, with_limit(0));
  const std::function<void()> calls[] = {
      [&] { training.step(samples(full)); }, [&] { training.step(samples(full)); },
      [&] { serving.run(samples(full)); }, [&] { model.weight("fc.weight"); }};
  std::vector<std::future<void>> threads;
  for (const auto& call : calls)
    threads.push_back(std::async(std::launch::async, [&] { insist(times, call); }));
  for (auto& thread : threads) thread.get();
  TrainingModel reference(alone, with_limit(0), AdamW{.learning_rate = 0.01});
  for (int step = 0; step < 2 * times; ++step) reference.step(samples(full));
  EXPECT_EQ(training.updates(), 2U * times);
  expect_same_weights(model, alone);
}

}  // namespace
}  // namespace penstock::testing
