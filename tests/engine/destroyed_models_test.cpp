// A host may destroy a model inside a call of that model. These tests check that the call goes on
// to its end, and that the model ends with the call.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/short_call_models.hpp"
#include "tests/support/latch.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::testing {
namespace {

/// A Host is a host with models. Its log calls `end` once, at the next line after `armed` was set.
struct Host {
  explicit Host(std::function<void(Host&)> end = {}) : end_(std::move(end)) {}

  Options options() {
    Options result = with_limit(0);
    result.runtime.log_level = LogLevel::debug;
    result.runtime.log = [this](std::string_view) { on_log_line(); };
    return result;
  }
  void on_log_line() {
    if (std::exchange(armed, false) && end_) end_(*this);
  }
  void end() {
    serving.reset();
    training.reset();
    model.reset();
  }

  bool armed = false;
  std::optional<Model> model{network()};
  const Model weights = *model;  // This is another handle, which outlives `model`.
  std::optional<TrainingModel> training{std::in_place, *model, options(),
                                        AdamW{.learning_rate = 0.1}};
  std::optional<InferenceModel> serving{std::in_place, *model, options()};

 private:
  std::function<void(Host&)> end_;
};

/// Makes `call` of a host that destroys its models inside the call, and of a host that does not.
/// Expects the same weights afterwards, and that no threads are left.
void expect_to_end_with(const std::function<void(Host&)>& call) {
  const std::size_t threads = thread_count();
  Host undisturbed, disturbed([](Host&host) { host.end(); });
  for (Host* host : {&undisturbed, &disturbed}) {
    host->training->step(samples(full));
    host->armed = true;
    call(*host);
    EXPECT_FALSE(host->armed) << "the host was told nothing";
  }
  EXPECT_FALSE(disturbed.training);
  expect_same_weights(disturbed.weights, undisturbed.weights);
  undisturbed.end();
  EXPECT_TRUE(threads_fall_to(threads));
}

TEST(DestroyedModels, EndWithTheStepWhoseLogDestroysThem) {
  for (const std::int64_t count : {full, remainder})
    expect_to_end_with(
        [&](Host& host) { EXPECT_EQ(host.training->step(samples(count)).outputs.size(), 1U); });
}

TEST(DestroyedModels, EndWithTheRunWhoseLogDestroysThem) {
  for (const std::int64_t count : {full, remainder})
    expect_to_end_with(
        [&](Host& host) { EXPECT_EQ(host.serving->run(samples(count)).outputs.size(), 1U); });
}

TEST(DestroyedModels, EndWithOtherCallsWhoseLogDestroysThem) {
  expect_to_end_with([](Host& host) { host.training->detach(); });
  expect_to_end_with([](Host& host) { host.training->set_optimizer(AdamW{}); });
}

TEST(DestroyedModels, EndInsideTheReadingOfWeightsWhoseLogDestroysThem) {
  expect_to_end_with([](Host& host) { EXPECT_TRUE(host.model->weight("fc.weight")); });
  expect_to_end_with([](Host& host) { EXPECT_EQ(host.model->clone().parameters().size(), 6U); });
  expect_to_end_with(
      [](Host& host) { host.model->set_weight("fc.bias", Tensor::zeros(DType::f32, {3})); });
}

TEST(DestroyedModels, AreCompiledThoughTheirProgressFunctionAssignsTheHandle) {
  Model handle = network();
  Options options = with_limit(0);
  options.runtime.compile_progress = [&](const CompileProgress&) { handle = Model("another"); };
  const InferenceModel serving(handle, options);
  EXPECT_EQ(serving.training_inputs(), (std::vector<std::string>{"x", "labels"}));
  handle = network();
  TrainingModel training(handle, options);
  DataLoader data(tensor_dataset(samples(full)), full);
  std::string name;
  fit(training, data,
      {.callbacks = {{.set_model = [&](const Model& trained) { name = trained.name(); }}}});
  EXPECT_EQ(name, "network");
}

TEST(DestroyedModels, AreMovedInsideTheirOwnCallsWhichGoOnToTheirEnd) {
  std::optional<TrainingModel> moved;
  Host undisturbed, disturbed([&](Host&host) { moved.emplace(std::move(*host.training)); });
  for (Host* host : {&undisturbed, &disturbed}) {
    host->training->step(samples(full));
    host->armed = true;
    EXPECT_EQ(host->training->step(samples(remainder)).outputs.size(), 1U);
    EXPECT_FALSE(host->armed);
  }
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->updates(), 2U);
  moved->step(samples(full));
  undisturbed.training->step(samples(full));
  expect_same_weights(disturbed.weights, undisturbed.weights);
}

TEST(DestroyedModels, AreReplacedInsideTheirOwnCallsByOthersThatGoOnFromTheirWeights) {
  const auto replaced = [](bool inside) {
    Host host([](Host& disturbed) {
      *disturbed.training =
          TrainingModel(disturbed.weights, disturbed.options(), AdamW{.learning_rate = 0.05});
    });
    host.training->step(samples(full));
    host.armed = inside;
    EXPECT_EQ(host.training->step(samples(remainder)).outputs.size(), 1U);
    EXPECT_FALSE(host.armed);
    if (!inside)
      *host.training = TrainingModel(host.weights, host.options(), AdamW{.learning_rate = 0.05});
    EXPECT_EQ(host.training->updates(), 0U);
    host.training->step(samples(full));
    EXPECT_EQ(host.training->updates(), 1U);
    return host.weights;
  };
  expect_same_weights(replaced(true), replaced(false));
}

/// Makes a step whose log drops the samples and makes `call`. The deleter of the samples destroys
/// the model. Returns whether the deleter ran inside `call`, as it does if the engine has given the
/// samples back by then.
bool is_destroyed_inside(const std::function<void(TrainingModel&)>& call) {
  std::vector<Tensor> inputs = samples(full);
  bool is_calling = false, is_destroyed_inside = false;
  Host host([&](Host& logging_host) {
    inputs.clear();
    is_calling = true;
    call(*logging_host.training);
    is_calling = false;
  });
  const auto destroy = [&, x = inputs[0]](const std::byte*) {
    is_destroyed_inside = is_calling;
    host.training.reset();
  };
  const std::byte* const elements = inputs[0].raw();
  inputs[0] = Tensor::wrap(inputs[0].dtype(), inputs[0].shape(),
                           std::shared_ptr<const std::byte>(elements, destroy));
  host.armed = true;
  EXPECT_EQ(host.training->step(inputs).outputs.size(), 1U);
  EXPECT_FALSE(host.training);
  return is_destroyed_inside;
}

TEST(DestroyedModels, EndWithTheCallThatReleasesSamplesWhoseDeleterDestroysThem) {
  const std::function<void(TrainingModel&)> calls[] = {
      [](TrainingModel& training) { training.step(samples(full)); },
      [](TrainingModel& training) { training.set_optimizer(AdamW{}); },
      [](TrainingModel& training) { EXPECT_FALSE(training.stage_reports().empty()); }};
  for (const auto& call : calls) {
    int attempts = 0;
    while (!is_destroyed_inside(call)) ASSERT_LT(++attempts, 1000);
  }
}

/// Returns samples that make a call fail. `released` is called when they are released.
std::vector<Tensor> failing_samples(const std::function<void()>& released) {
  std::vector<Tensor> inputs = samples(full, 9);
  const auto release = [released, x = inputs[0]](const std::byte*) { released(); };
  inputs[0] = Tensor::wrap(inputs[0].dtype(), inputs[0].shape(),
                           std::shared_ptr<const std::byte>(inputs[0].raw(), release));
  return inputs;
}

// A model that has failed keeps its samples until it is destroyed.
TEST(DestroyedModels, AreReplacedThoughADeleterOfTheirSamplesDestroysTheHandle) {
  const std::size_t threads = thread_count();
  {
    Host host;
    std::optional<InferenceModel>& serving = host.serving;
    std::optional<TrainingModel>& training = host.training;
    EXPECT_THROW(training->step(failing_samples([&] { training.reset(); })), Error);
    EXPECT_THROW(serving->run(failing_samples([&] { serving.reset(); })), Error);
    ASSERT_TRUE(training && serving);
    *training = TrainingModel(host.weights, host.options(), AdamW{});
    *serving = InferenceModel(host.weights, host.options());
    EXPECT_FALSE(training || serving);
  }
  EXPECT_TRUE(threads_fall_to(threads));
}

/// Calls `call` again and again until no other thread is in a call of the model.
void call_when_free(const std::function<void()>& call) {
  for (;;) try {
      return call();
    } catch (const Error& error) {
      if (error.code() != Errc::busy) throw;
    }
}

/// Makes a step whose log destroys the step's model while another thread waits to begin a call of
/// the same Model. The other call ends only once the step has returned, or after a minute. Returns
/// whether the step has returned within that minute.
bool returns_before_the_next_call_ends() {
  std::atomic<bool> is_destroyed = false;
  const Latch inside, returned;
  Host host([&](Host& logging_host) {
    inside.open();
    logging_host.training.reset();
    is_destroyed = true;
  });
  bool in_time = true;
  Options options = host.options();
  options.runtime.log = [&](std::string_view) {
    if (is_destroyed) in_time = in_time && returned.wait();
  };
  std::thread next([&, model = host.weights] {
    inside.wait();
    call_when_free([&] { InferenceModel(model, options); });
  });
  host.armed = true;
  host.training->step(samples(full));
  returned.open();
  next.join();
  return in_time;
}

TEST(DestroyedModels, EndInsideTheirCallAndWaitForNoOther) {
  for (int round = 0; round < 50; ++round) ASSERT_TRUE(returns_before_the_next_call_ends());
}

TEST(DestroyedModels, LeaveTheNewestWeightsWhenTheyEndInsideACallOfAnotherModel) {
  const auto trained = [](const std::function<void(TrainingModel&)>& call, bool inside) {
    std::optional<TrainingModel> other;
    Host host([&](Host&) { other.reset(); });
    other.emplace(*host.model, with_limit(0), AdamW{.learning_rate = 0.05});
    host.training->step(samples(full));
    other->step(samples(full));
    host.armed = inside;
    call(*host.training);
    EXPECT_FALSE(host.armed);
    EXPECT_NE(other.has_value(), inside);
    host.training->step(samples(remainder));
    return host.weights;
  };
  const std::function<void(TrainingModel&)> calls[] = {
      [](TrainingModel& training) { training.step(samples(remainder)); },
      [](TrainingModel& training) { training.set_optimizer(AdamW{.learning_rate = 0.2}); }};
  for (const auto& call : calls) expect_same_weights(trained(call, true), trained(call, false));
}

}  // namespace
}  // namespace penstock::testing
