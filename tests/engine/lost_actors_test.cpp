// In these tests each of the actors of a model dies in the middle of a run, which goes on by
// itself. What the run returns and leaves has to have the bits of a run in which none has died.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/running_model.hpp"
#include "graph/values/memory.hpp"
#include "penstock/penstock.hpp"
#include "tests/engine/failing_steps.hpp"
#include "tests/engine/held_kernel.hpp"
#include "tests/support/lost_actors.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::testing::failing_steps {
namespace {

const Optimizer rule = Adam{.learning_rate = 0.01};

Options two_replicas() {
  Options options =
      options_for({"replicas", [](Options& o) {
                     o.topology.replication_factor = 2;
                     o.training.sharding.optimizer_state = {.on = true, .minimum_elements = 2};
                   }});
  options.output.mode = OutputMode::all;
  return options;
}

constexpr std::int64_t per_replica = updates * accumulation, replicas = 2;

std::vector<Tensor> data() {
  return samples(per_replica * replicas * batch, 3);
}

/// A Trained is a model, and what a run of it has returned.
struct Trained {
  Model model = network();
  StepResult result = {};
  std::vector<NamedTensor> state = {};
};

Trained undisturbed() {
  Trained run;
  RunningModel running(run.model, two_replicas(), &rule, {});
  run.result = running.run(data(), per_replica, {});
  run.state = running.optimizer_state();
  return run;
}

/// Waits until the actors of `running` have failed.
void await_failure(const RunningModel& running) {
  while (running.actors()->failure().empty()) std::this_thread::yield();
}

// The loss stands still in the first window while the actor dies.
TEST(LostActors, InARunAreReplacedWhoeverTheyAre) {
  const Trained expected = undisturbed();
  std::size_t actors = 1;
  for (std::size_t number = 0; number < actors; ++number) {
    Trained run;
    const HeldKernel held(run.model, "cross_entropy", 1);
    RunningModel running(run.model, two_replicas(), &rule, {});
    const std::vector<std::string> names = names_of_actors(*running.actors());
    actors = names.size();
    const std::string name = names.at(number);
    SCOPED_TRACE(name);
    {
      const std::jthread fault([&] {
        EXPECT_TRUE(held.await());
        let_actor_die(*running.actors(), number);
        // The IPU whose program is held dies when it has run that.
        if (!name.starts_with("IPU")) await_failure(running);
        held.let_go();
      });
      run.result = running.run(data(), per_replica, {});
    }
    EXPECT_EQ(run.result.mean_loss, expected.result.mean_loss);
    EXPECT_TRUE(same_bits(run.result.loss, expected.result.loss));
    expect_same_state(running.optimizer_state(), expected.state);
    expect_same_weights(run.model, expected.model);
    const CallReport report = running.take_last_run();
    ASSERT_EQ(report.recoveries.size(), 1U);
    EXPECT_EQ(report.recoveries[0].failure, name + " has ended");
  }
  EXPECT_GT(actors, 10U);
}

TEST(LostActors, BetweenTwoRunsAreReplacedAndOnlyTheLogIsTold) {
  const Trained expected = undisturbed();
  for (const int attempts : {3, 0}) {
    Trained run;
    Options options = two_replicas();
    options.recovery.attempts = attempts;
    std::vector<std::string> lines;
    options.runtime.log = [&](std::string_view line) { lines.emplace_back(line); };
    options.runtime.log_level = LogLevel::error;
    RunningModel running(run.model, options, &rule, {});
    const std::string name = names_of_actors(*running.actors()).at(0);
    let_actor_die(*running.actors(), 0);
    await_failure(running);
    if (attempts == 0) {
      EXPECT_NE(refusal(Errc::internal, [&] { running.settle_failure(); }), "accepted");
    }
    running.settle_failure();
    EXPECT_FALSE(running.attached());
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_NE(lines[0].find(name + " has ended"), std::string::npos) << lines[0];
    run.result = running.run(data(), per_replica, {});
    EXPECT_EQ(run.result.mean_loss, expected.result.mean_loss);
    expect_same_weights(run.model, expected.model);
  }
}

// What the actors of a thousand deaths leave behind would show in the threads and in the memory for
// tensors.
TEST(LostActors, LeaveNothingBehind) {
  const Model model = network();
  RunningModel running(model, two_replicas(), &rule, {});
  const auto die_and_run = [&](std::size_t number) {
    let_actor_die(*running.actors(), number % names_of_actors(*running.actors()).size());
    await_failure(running);
    std::vector<std::weak_ptr<const std::byte>> inputs;
    {
      const std::vector<Tensor> tensors = data();
      for (const Tensor& tensor : tensors) inputs.push_back(tensor.storage());
      running.run(tensors, per_replica, {});
    }
    // A thread of the actors may still use the inputs when the run returns. A later call of a
    // host's model would release them.
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    const auto in_use = [](const auto& input) { return !input.expired(); };
    while (std::ranges::any_of(inputs, in_use) && std::chrono::steady_clock::now() < give_up) {
      running.release_inputs();
      std::this_thread::yield();
    }
    EXPECT_TRUE(std::ranges::none_of(inputs, in_use));
  };
  die_and_run(0);
  const std::size_t threads = thread_count();
  const std::uint64_t bytes = memory_counters().bytes_live;
  const std::size_t deaths = sanitized ? 100 : 1000;
  for (std::size_t number = 1; number <= deaths; ++number) die_and_run(number);
  EXPECT_EQ(running.updates(), (deaths + 1) * updates);
  EXPECT_TRUE(threads_fall_to(threads));
  EXPECT_EQ(memory_counters().bytes_live, bytes);
}

TEST(LostActors, EndTheRunThatHasNoAttempts) {
  Options options = two_replicas();
  options.recovery.attempts = 0;
  const Model model = network();
  const HeldKernel held(model, "cross_entropy", 1);
  RunningModel running(model, options, &rule, {});
  const std::jthread fault([&] {
    EXPECT_TRUE(held.await());
    let_actor_die(*running.actors(), 0);
    await_failure(running);
    held.let_go();
  });
  EXPECT_NE(refusal(Errc::internal, [&] { running.run(data(), per_replica, {}); }), "accepted");
  EXPECT_EQ(running.updates(), 0U);
}

}  // namespace
}  // namespace penstock::testing::failing_steps
