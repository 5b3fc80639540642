// In these tests, actors die, messages come that nobody should have sent, and blocks are gone. The
// host's call has to fail and say why, and the weights of the last update have to be there still.

#include <gtest/gtest.h>

#include <algorithm>
#include <caf/scoped_actor.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actors/pipeline/pipeline_end.hpp"
#include "actors/update/stage_memory.hpp"
#include "tests/actors/pipeline/undisturbed_weights.hpp"
#include "tests/support/deterministic_run.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/small_cast.hpp"

namespace penstock::actors {
namespace {

using testing::DeterministicRun;
using testing::refusal;
using testing::same_bits;
using testing::SmallCast;
using testing::SmallEngineOptions;
using testing::weights_after;
using testing::windows;

const SmallEngineOptions everybody{
    .tied = true, .replicas = 2, .max_grad_norm = 0.05, .offload = true, .shards = true};

TEST(PipelineFailure, BetweenCallsIsThrownByTheNextCallAsItself) {
  for (std::size_t victim = 0; victim < SmallCast(everybody).cast().others.size(); ++victim) {
    SmallCast cast(everybody);
    cast.begin_windows(1);
    cast.finish();
    const Child& child = cast.cast().others[victim];
    caf::anon_send_exit(child.actor, caf::exit_reason::unknown);
    cast.system().run_pending();
    EXPECT_EQ(refusal(Errc::internal, [&] { cast.begin_windows(1); }), child.name + " has ended");
    EXPECT_EQ(refusal(Errc::closed, [&] { cast.begin_windows(1); }),
              "the model has failed before and cannot go on: " + child.name + " has ended");
  }
}

/// Runs a call in which `disturb` is called after a number of messages that depends on `seed`. If
/// the call has been answered by then, `disturb` is not called.
template <class Disturb>
void run_disturbed(SmallCast& cast, std::uint64_t seed, Disturb disturb) {
  cast.begin_windows(windows);
  DeterministicRun order(cast.system(), seed);
  order.steps(seed * 37 % 1500);
  if (cast.host().answered()) return;
  disturb();
  order.run();
  ASSERT_TRUE(cast.host().answered()) << "it hangs";
}

/// Returns options with as many actors as with the options `everybody`, and with stages that have
/// turns.
SmallEngineOptions everybody_in_phases() {
  SmallEngineOptions options = everybody;
  options.schedule = "sequential";
  options.phased = graph::PhaseRequest{.turn = 8};
  return options;
}

/// Returns one of two reasons for an actor to end. Both count as a failure, because the supervisor
/// has not told the actor to end.
caf::exit_reason reason_of_end(std::uint64_t seed) {
  return seed / 7 % 2 ? caf::exit_reason::unknown : caf::exit_reason::user_shutdown;
}

/// Ends one actor in each of many calls: every actor is ended at several times of a call. Checks
/// that the call's failure names the actor.
void expect_each_is_named(const SmallEngineOptions& options, std::uint64_t seeds) {
  std::map<std::string, int> failures;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SmallCast cast(options);
    const Child& victim = cast.cast().others[seed % cast.cast().others.size()];
    SCOPED_TRACE(victim.name + ", seed " + std::to_string(seed));
    run_disturbed(cast, seed, [&] { caf::anon_send_exit(victim.actor, reason_of_end(seed)); });
    if (!cast.host().failure.failed()) continue;
    ++failures[victim.name];
    EXPECT_EQ(refusal(Errc::internal, [&] { cast.host().wait(0); }), victim.name + " has ended");
  }
  EXPECT_EQ(failures.size(), SmallCast(options).cast().others.size());
}

TEST(PipelineFailure, OfAnyActorEndsTheCallAndNamesIt) {
  expect_each_is_named(everybody, 300);
  expect_each_is_named(everybody_in_phases(), 100);
}

TEST(PipelineFailure, OfTheSupervisorEndsTheCallAndNamesItToo) {
  int failures = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SmallCast cast(everybody);
    run_disturbed(cast, seed,
                  [&] { caf::anon_send_exit(cast.cast().supervisor, reason_of_end(seed)); });
    if (!cast.host().failure.failed()) continue;
    ++failures;
    EXPECT_EQ(refusal(Errc::internal, [&] { cast.host().wait(0); }), "supervisor has ended");
  }
  EXPECT_GT(failures, 20);
}

/// Returns the weights after 0, 1, 2, ... updates.
std::vector<std::vector<Tensor>> history(const SmallEngineOptions& options) {
  std::vector<std::vector<Tensor>> all;
  for (std::int64_t updates = 0; updates <= windows; ++updates)
    all.push_back(weights_after(updates, options.replicas, options.max_grad_norm, options.tied));
  return all;
}

/// Ends one actor in each of many calls: every actor is ended at several times of a call. Calls
/// `look` with the cast of each call that has failed.
template <class Look>
void look_after_ends(const SmallEngineOptions& options, std::uint64_t seeds, const Look& look) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SmallCast cast(options);
    const Child& victim = cast.cast().others[seed % cast.cast().others.size()];
    SCOPED_TRACE(victim.name + ", seed " + std::to_string(seed));
    run_disturbed(cast, seed,
                  [&] { caf::anon_send_exit(victim.actor, caf::exit_reason::unknown); });
    if (cast.host().failure.failed()) look(cast);
  }
}

/// Returns how often the weights could still be read after an actor had ended. These weights have
/// to be those of the updates that are counted: `weights` has the weights after 0, 1, ... updates.
int read_after_ends(const SmallEngineOptions& options, std::uint64_t seeds,
                    const std::vector<std::vector<Tensor>>& weights) {
  int read = 0;
  look_after_ends(options, seeds, [&](SmallCast& cast) {
    const auto refused = refusal(Errc::closed, [&] {
      const Variables rescued = cast.variables_after_end();
      ++read;
      EXPECT_TRUE(same_bits(rescued, weights.at(cast.updates())));
    });
    const bool is_whole = refused == "accepted";
    EXPECT_TRUE(is_whole || refused.find("in the middle of an update") != std::string::npos);
    EXPECT_EQ(may_have_uncounted_update(cast.host(), cast.cast()), !is_whole);
  });
  return read;
}

TEST(PipelineFailure, OfAnyActorLeavesTheWeightsOfOneUpdateOrSaysThatItCannot) {
  const auto weights = history(everybody);
  EXPECT_GT(read_after_ends(everybody, 300, weights), 200);
  EXPECT_GT(read_after_ends(everybody_in_phases(), 100, weights), 50);
}

/// Returns the optimizer's state after 0, 1, 2, ... updates.
std::vector<OptimizerTensors> states_of(const SmallEngineOptions& options) {
  std::vector<OptimizerTensors> all;
  for (std::int64_t updates = 0; updates <= windows; ++updates) {
    testing::SmallEngine engine(options);
    testing::make_updates(engine, updates, options.replicas);
    all.push_back(engine.runtime().read_optimizer());
  }
  return all;
}

// The rule `lamb` changes the state of shards in one round, and the weights in a later one.
TEST(PipelineFailure, OfAnyActorLeavesTheStateOfOneUpdateOrSaysThatItCannot) {
  SmallEngineOptions options = everybody;
  options.rule = "lamb";
  const auto states = states_of(options);
  int read = 0;
  look_after_ends(options, 300, [&](SmallCast& cast) {
    end(cast.cast());
    cast.system().run_pending();
    if (!have_same_updates(cast.cast().memory)) return;
    ++read;
    const OptimizerTensors rescued = read_optimizer(*cast.pipeline()->plan, cast.cast().memory);
    const auto& expected = states.at(static_cast<std::size_t>(rescued.updates)).variables;
    ASSERT_EQ(rescued.variables.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(same_bits(rescued.variables[i], expected[i])) << "variable " << i;
  });
  EXPECT_GT(read, 150);
}

TEST(PipelineFailure, OfAnActorThatThrowsKeepsTheText) {
  SmallCast cast;
  const std::string name = cast.stage_name(2);
  run_disturbed(cast, 3, [&] {
    const auto& edges = cast.plan().edges;
    const auto edge = std::ranges::find(edges, 2, &graph::Edge::to);
    const Tensor tensor(edge->type.shape,
                        std::vector<float>(static_cast<std::size_t>(edge->type.shape.elements())));
    caf::anon_send(cast.actor<StageHandle>(name),
                   EdgeTensor{static_cast<std::int32_t>(edge - edges.begin()), 1'000'000, tensor});
  });
  const auto text = refusal(Errc::internal, [&] { cast.host().wait(0); });
  EXPECT_EQ(text.find(name + ": unexpected tensor at position"), 0u) << text;
}

TEST(PipelineFailure, OfAMessageThatNobodyUnderstandsNamesItsReceiver) {
  for (const std::string name : {"feed", "step", "gate", "IPU 3"}) {
    SmallCast cast;
    run_disturbed(cast, 3, [&] { caf::anon_send(cast.actor(name), 1.5); });
    const auto text = refusal(Errc::internal, [&] { cast.host().wait(0); });
    EXPECT_EQ(text.find(name + ": "), 0u) << text;
    EXPECT_NE(text.find("no handler for message"), std::string::npos) << text;
  }
}

TEST(PipelineFailure, OfTheHostStoreNamesTheStageThatNeedsIt) {
  SmallCast cast({.offload = true});
  const auto store = cast.actor<HostStoreHandle>("host store");
  run_disturbed(cast, 3, [&] {
    caf::scoped_actor thief{cast.system().caf()};
    thief->request(store, caf::infinite,
                   // The request is sent at once, and the answer is dropped.
                   FetchBlock{{HostClass::optimizer_state, 0, 2}});
    cast.system().run_pending();
  });
  const auto text = refusal(Errc::internal, [&] { cast.host().wait(0); });
  EXPECT_EQ(text, cast.stage_name(2) +
                      ": its optimizer state is not in the host store: host store: holds no "
                      "optimizer state of " +
                      cast.stage_name(2));
}

TEST(PipelineFailure, OfTheHostStoreNamesTheStageThatNeedsItsBlock) {
  const std::pair<HostClass, std::string> rows[] = {{HostClass::accumulators, "gradient sums"},
                                                    {HostClass::weights, "weights"}};
  for (const auto& [of, what] : rows) {
    SmallCast cast({.offload = true});
    const auto store = cast.actor<HostStoreHandle>("host store");
    cast.system().run_pending();
    caf::scoped_actor thief{cast.system().caf()};
    thief->request(store, caf::infinite, FetchBlock{{of, 0, 1}});
    cast.system().run_pending();
    cast.begin_windows(1);
    cast.system().run_pending();
    const auto text = refusal(Errc::internal, [&] { cast.host().wait(0); });
    EXPECT_EQ(text, cast.stage_name(1) + ": its " + what +
                        " are not in the host store: host store: holds no " + what + " of " +
                        cast.stage_name(1));
  }
}

// An actor asks for a stash again and again until the stash is there, and thus takes it away from
// the stage. The weights can still be read afterwards.
TEST(PipelineFailure, OfTheHostStoreNamesTheMicroBatchWhoseStashIsGone) {
  SmallCast cast({.offload = true});
  const auto store = cast.actor<HostStoreHandle>("host store");
  cast.system().run_pending();
  cast.begin_windows(1);
  DeterministicRun order(cast.system(), 7);
  caf::scoped_actor thief{cast.system().caf()};
  for (int i = 0; i < 300 && order.step(); ++i)
    thief->request(store, caf::infinite, FetchBlock{{HostClass::stash, 0, 1, 2}});
  order.run();
  const auto text = refusal(Errc::internal, [&] { cast.host().wait(0); });
  EXPECT_EQ(text, cast.stage_name(1) +
                      ": its stash of micro-batch 2 is not in the host store: host store: holds no "
                      "stash of micro-batch 2 of " +
                      cast.stage_name(1));
  EXPECT_TRUE(same_bits(cast.variables_after_end(), cast.first_variables()));
}

}  // namespace
}  // namespace penstock::actors
