// In these tests, actors die in the middle of a step, others take their place, and the step goes on
// from the last update. Everything that it returns and leaves has to have the bits of a step in
// which no actor has died.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "actors/system/actor_system.hpp"
#include "tests/actors/pipeline/undisturbed_weights.hpp"
#include "tests/support/deterministic_run.hpp"
#include "tests/support/lost_actors.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/small_engine.hpp"

namespace penstock::actors {
namespace {

using testing::DeterministicRun;
using testing::run_step;
using testing::same_bits;
using testing::SmallEngine;
using testing::SmallEngineOptions;

constexpr std::int64_t replayed_windows = 3, accumulation = 4;
constexpr std::int64_t micro_batches = replayed_windows * accumulation;

/// Returns everything that the pipeline of `engine` holds from step to step.
std::vector<Tensor> held_by(SmallEngine& engine) {
  std::vector<Tensor> held;
  for (std::int32_t replica = 0; replica < engine.options().replicas; ++replica)
    std::ranges::move(engine.runtime().read_variables(replica), std::back_inserter(held));
  for (const auto& state : engine.runtime().read_optimizer().variables)
    held.insert(held.end(), state.begin(), state.end());
  return held;
}

/// Gives a new engine what `from` holds.
std::unique_ptr<SmallEngine> replaced(SmallEngine& from) {
  auto engine = std::make_unique<SmallEngine>(from.options());
  PipelineRuntime &before = from.runtime(), &after = engine->runtime();
  after.write_variables(before.read_variables());
  for (std::int32_t replica = 1; replica < from.options().replicas; ++replica)
    after.write_buffers(before.read_variables(replica), replica);
  after.write_optimizer(before.read_optimizer());
  return engine;
}

/// A Step is a step of an engine, and what the engine does afterwards.
struct Step {
  StepOutcome outcome = {};
  std::vector<Tensor> held = {};  ///< The engine holds these tensors after the step.
  Outputs next = {};              ///< Another step returns these tensors.
};

void finish(Step& step, SmallEngine& engine) {
  step.held = held_by(engine);
  step.next = engine.step(1);
}

Step undisturbed(const SmallEngineOptions& options) {
  SmallEngine engine(options);
  Step step{run_step(engine.runtime(), engine.inputs(replayed_windows), micro_batches)};
  finish(step, engine);
  return step;
}

/// Returns how many messages the actors handle in a step.
std::size_t messages_of(const SmallEngineOptions& options) {
  SmallEngine engine(options);
  engine.begin(replayed_windows);
  return DeterministicRun(engine.runtime().system(), 1).run();
}

/// A Disturbed is a step in which actors die again and again, and are replaced.
class Disturbed {
 public:
  Disturbed(const SmallEngineOptions& options, std::uint64_t seed)
      : random_(seed), engine_(std::make_unique<SmallEngine>(options)) {
    engine_->begin(replayed_windows);
  }

  /// Lets an actor die once `messages` more messages have been handled. Returns false if the step
  /// cannot go on afterwards.
  bool survives_death_after(std::size_t messages) {
    PipelineRuntime& runtime = engine_->runtime();
    DeterministicRun order(runtime.system(), ++random_);
    order.steps(messages);
    order.end_one();
    order.run();
    if (runtime.failure().empty()) return true;
    EXPECT_NE(testing::refusal(Errc::internal, [&] { runtime.finish_step(); }), "accepted");
    if (!runtime.can_be_replaced()) return false;
    auto rest = runtime.take_rest();
    if (!rest) return false;
    done_ = rest->done;
    EXPECT_EQ(runtime.micro_batches_begun(), done_ - done_before_);
    done_before_ = done_;
    engine_ = replaced(*engine_);
    if ((random_ >> 20) % 4 == 1) rest = rest_after_early_death(std::move(*rest));
    engine_->runtime().begin_rest(std::move(*rest), engine_->inputs(replayed_windows),
                                  stop_.get_token());
    ++replacements_;
    return true;
  }

  int replacements() const { return replacements_; }
  std::int64_t done() const { return done_; }
  void stop() { stop_.request_stop(); }
  SmallEngine& engine() { return *engine_; }

  Step finish() {
    PipelineRuntime& runtime = engine_->runtime();
    DeterministicRun(runtime.system(), ++random_).run();
    Step step{runtime.finish_step()};
    actors::finish(step, *engine_);
    return step;
  }

 private:
  /// Lets an actor of the engine die, which is idle, and replaces the engine. Returns what the next
  /// engine has to run, which is `rest`.
  RestOfStep rest_after_early_death(RestOfStep rest) {
    const std::int64_t done = rest.done;
    PipelineRuntime& runtime = engine_->runtime();
    testing::let_actor_die(runtime, (random_ >> 22) % testing::names_of_actors(runtime).size());
    runtime.system().run_pending();
    EXPECT_NE(testing::refusal(
                  Errc::internal,
                  [&] { runtime.begin_rest(std::move(rest), engine_->inputs(replayed_windows)); }),
              "accepted");
    EXPECT_TRUE(runtime.can_be_replaced());
    auto again = runtime.take_rest();
    EXPECT_TRUE(again);
    EXPECT_EQ(again->micro_batches, micro_batches);
    EXPECT_EQ(again->done, done);
    engine_ = replaced(*engine_);
    return std::move(*again);
  }

  std::uint64_t random_;
  std::stop_source stop_;
  std::unique_ptr<SmallEngine> engine_;
  int replacements_ = 0;
  std::int64_t done_ = 0, done_before_ = 0;
};

void expect_same(const Step& one, const Step& other) {
  EXPECT_TRUE(same_bits(one.outcome.outputs, other.outcome.outputs));
  EXPECT_EQ(one.outcome.mean_loss, other.outcome.mean_loss);
  EXPECT_TRUE(same_bits(one.held, other.held));
  EXPECT_TRUE(same_bits(one.next, other.next));
}

std::vector<SmallEngineOptions> replayed_engines() {
  std::vector<SmallEngineOptions> all;
  for (const std::string schedule : {"grouped", "interleaved", "sequential"})
    for (const std::int64_t replicas : {1, 2})
      all.push_back({.schedule = schedule, .replicas = replicas});
  all.push_back({.tied = true,
                 .replicas = 3,
                 .max_grad_norm = 0.05,
                 .offload = true,
                 .shards = true,
                 .rule = "lamb"});
  all.push_back({.stages = 1, .replicas = 2, .output_mode = OutputMode::sum, .anchors = true});
  all.push_back({.squares = true, .recompute = true, .output_mode = OutputMode::sum});
  all.push_back({.stages = 2, .output_mode = OutputMode::every_n, .output_period = 3});
  all.push_back({.output_mode = OutputMode::final, .anchors = true});
  for (const bool parallel : {false, true})
    all.push_back({.schedule = "sequential",
                   .phased = graph::PhaseRequest{.parallel = parallel, .turn = accumulation},
                   .offload = true});
  for (SmallEngineOptions& options : all) options.gradient_accumulation = accumulation;
  return all;
}

// The seeds spread the first death over the whole step. The actors that die are drawn from those
// that have mail at that time.
TEST(PipelineReplay, AfterDeathsAtAnyMessageGivesTheBitsOfAnUndisturbedStep) {
  for (const SmallEngineOptions& options : replayed_engines()) {
    const Step expected = undisturbed(options);
    const std::size_t messages = messages_of(options);
    int survived = 0, replacements = 0;
    std::array<int, replayed_windows + 1> after{};
    const std::uint64_t seeds = std::max<std::uint64_t>(testing::orders() / 33, 40);
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      SCOPED_TRACE(options.schedule + ", replicas " + std::to_string(options.replicas) + ", seed " +
                   std::to_string(seed));
      Disturbed step(options, seed << 20);
      bool goes_on = step.survives_death_after(messages * seed / seeds);
      // In some steps, those that take the place of the dead die as well.
      for (std::uint64_t again = seed % 3; goes_on && again > 0; --again)
        goes_on = step.survives_death_after(messages / 4 * again);
      if (!goes_on) continue;
      ++survived;
      replacements += step.replacements();
      ++after[static_cast<std::size_t>(step.done() / accumulation)];
      expect_same(step.finish(), expected);
    }
    // The others have lost an actor in the middle of an update, or the one that collects results.
    EXPECT_GT(survived, static_cast<int>(seeds) / 2);
    EXPECT_GT(replacements, static_cast<int>(seeds) / 2);
    for (std::int64_t done = 0; done < replayed_windows; ++done)
      EXPECT_GT(after[static_cast<std::size_t>(done)], 0) << done;
  }
}

// Nobody learns before the second call that an actor has died after the first one.
TEST(PipelineReplay, OfAStepBeforeWhichAnActorHasDiedIsTheWholeStep) {
  const SmallEngineOptions options{.replicas = 2, .gradient_accumulation = accumulation};
  SmallEngine undisturbed(options);
  undisturbed.step(replayed_windows);
  Step expected{
      run_step(undisturbed.runtime(), undisturbed.inputs(replayed_windows), micro_batches)};
  finish(expected, undisturbed);
  const auto names = testing::names_of_actors(undisturbed.runtime());
  for (std::size_t number = 0; number < names.size(); ++number) {
    SCOPED_TRACE(names[number]);
    SmallEngine engine(options);
    PipelineRuntime& runtime = engine.runtime();
    engine.step(replayed_windows);
    testing::let_actor_die(runtime, number);
    runtime.system().run_pending();
    EXPECT_EQ(testing::refusal(Errc::internal, [&] { engine.begin(replayed_windows); }),
              names[number] + " has ended");
    ASSERT_TRUE(runtime.can_be_replaced());
    auto rest = runtime.take_rest();
    ASSERT_TRUE(rest);
    EXPECT_EQ(rest->micro_batches, micro_batches);
    EXPECT_EQ(rest->done, 0);
    EXPECT_EQ(runtime.micro_batches_begun(), micro_batches);
    const auto next = replaced(engine);
    next->runtime().begin_rest(std::move(*rest), next->inputs(replayed_windows));
    Step step{next->runtime().finish_step()};
    finish(step, *next);
    expect_same(step, expected);
  }
}

/// Makes a step in which an actor dies after `messages` messages, and asks the rest of the step to
/// stop. Returns whether the step was cut short.
bool is_cut(const SmallEngineOptions& options, std::size_t messages) {
  Disturbed step(options, messages << 20);
  if (!step.survives_death_after(messages) || step.replacements() == 0) return false;
  step.stop();
  PipelineRuntime& runtime = step.engine().runtime();
  runtime.system().run_pending();
  if (step.done() == micro_batches) {
    EXPECT_EQ(runtime.finish_step().outputs.size(), 2u);
    return false;
  }
  EXPECT_NE(testing::refusal(Errc::cancelled, [&] { runtime.finish_step(); }), "accepted");
  EXPECT_EQ(runtime.micro_batches_begun(), 0);
  SmallEngine shorter(options);
  testing::make_updates(shorter, step.done() / accumulation, options.replicas);
  EXPECT_TRUE(same_bits(held_by(step.engine()), held_by(shorter)));
  EXPECT_TRUE(same_bits(step.engine().step(1), shorter.step(1)));
  return true;
}

TEST(PipelineReplay, BeginsNoWindowOnceTheStepIsAskedToStop) {
  const SmallEngineOptions options{.replicas = 2, .gradient_accumulation = accumulation};
  const std::size_t messages = messages_of(options);
  int cut = 0;
  for (std::size_t after = 0; after < messages; after += 23) {
    SCOPED_TRACE(after);
    cut += is_cut(options, after);
  }
  EXPECT_GT(cut, 10);
}

}  // namespace
}  // namespace penstock::actors
