// These tests send actors messages that nobody should have sent, as a broken or hostile process
// might. An actor has to refuse such a message before the message has changed anything.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "actors/pipeline/pipeline_cast.hpp"
#include "tests/support/deterministic_run.hpp"
#include "tests/support/small_cast.hpp"

namespace penstock::actors {
namespace {

using testing::DeterministicRun;
using testing::SmallCast;
using testing::SmallEngineOptions;

/// Returns options for two stages and two replicas whose updates have all rounds.
SmallEngineOptions all_rounds(const std::string& schedule = "grouped") {
  return {.schedule = schedule,
          .stages = 2,
          .replicas = 2,
          .gradient_accumulation = 2,
          .max_grad_norm = 1,
          .shards = true,
          .rule = "lamb"};
}

/// An Intrusion is a message, the actor that gets it, and a part of the text with which the actor
/// refuses it.
struct Intrusion {
  std::string actor = {};
  std::function<void(const caf::actor&)> send = {};
  std::string refusal = {};
  int times = 1;  ///< The actor refuses the last of so many such messages.
};

template <class Message>
Intrusion intrusion(std::string actor, Message message, std::string refusal, int times = 1) {
  return {std::move(actor), [=](const caf::actor& to) { caf::anon_send(to, message); },
          std::move(refusal), times};
}

/// This is the number of no round.
constexpr auto no_round = static_cast<UpdateRound>(200);

/// Returns norms that no stage measures.
UpdateNorms wrong_norms() {
  return {{{99, 1.0}, {-5, 1.0}},
          {{1 << 20, {std::vector<float>(9), {}, {}}},
           {0, {{}, {1, 2, 3}, std::vector<float>(100'000)}}}};
}

/// Returns the first edge along which stage `from`, or the host, sends something.
std::int32_t edge_from(const SmallCast& cast, std::int32_t from) {
  const auto& edges = cast.plan().edges;
  return static_cast<std::int32_t>(std::ranges::find(edges, from, &graph::Edge::from) -
                                   edges.begin());
}

/// Returns messages that an idle engine refuses, and that may come from other processes.
std::vector<Intrusion> intrusions(const SmallCast& cast) {
  const std::string stage = cast.stage_name(0), optimizer = "optimizer of " + stage;
  const std::string idle = "came out of turn: the optimizer waits for the end of a window";
  const std::string no_edge = "the stage receives nothing along that edge";
  const std::string no_micro_batch = "unexpected tensor at position";
  const std::int32_t edges = std::int32_t(std::ssize(cast.plan().edges));
  const std::int32_t input = edge_from(cast, graph::host);
  const Tensor rows = cast.inputs(1)[0].rows(0, SmallCast::batch);
  std::vector<Intrusion> all = {
      intrusion(optimizer, AllSumsComplete{}, idle),
      intrusion(optimizer, TiedSumsComplete{0}, "TiedSumsComplete of stage 0 came out of turn"),
      intrusion(optimizer, TiedSumsComplete{-3}, "TiedSumsComplete of stage -3 came out of turn"),
      intrusion(optimizer, Release{}, idle),
      intrusion("gate", GradientsReady{0, 0},
                "GradientsReady of " + stage +
                    " came out of turn: the gate waits for the complete gradients of stage 1",
                2),
      intrusion("gate", GradientsReady{0, -1}, "from stage -1 of replica 0, which"),
      intrusion("gate", GradientsReady{2, 0}, "from stage 0 of replica 2, which"),
      intrusion("reducer of stage 0", SumsComplete{1}, "SumsComplete of replica 1 came out of", 2),
      intrusion("reducer of stage 0", SumsComplete{-1}, "from replica -1, which"),
      intrusion("reducer of stage 0", SumsComplete{2}, "from replica 2, which"),
      intrusion(stage, EdgeTensor{-1, 0}, no_edge),
      intrusion(stage, EdgeTensor{edges, 0}, no_edge),
      intrusion(stage, EdgeTensor{edge_from(cast, 0), 0}, no_edge),
      intrusion(stage, EdgeTensor{input, 0}, "for micro-batch 0: expected f32[3,8], got no tensor"),
      intrusion(stage, EdgeTensor{input, 0, Tensor({3}, {1, 2, 3})}, "f32[3,8], got f32[3]"),
      intrusion(stage, EdgeTensor{input, -1, rows}, no_micro_batch),
      intrusion(stage, EdgeTensor{input, 1'000'000'000'000, rows}, no_micro_batch),
      intrusion(stage, EdgeTensor{input, 0, rows}, no_micro_batch, 2),
      intrusion(stage, OutputsTaken{}, "the host has read all outputs that it was sent"),
      intrusion(stage, TurnNear{{Direction::forward, 1'000'000}},
                "TurnNear for the forward of micro-batch 1000000 came out of turn"),
      intrusion("step", StageOutputs{0, 0, 0}, "the stage has no outputs"),
      intrusion("step", StageOutputs{0, 1, 0}, "the call has no such micro-batch"),
      intrusion("step", StageOutputs{0, 9, 0}, "from stage 9 of replica 0, which"),
      intrusion("step", StageOutputs{-1, 1, 0}, "from stage 1 of replica -1, which"),
      intrusion("step", UpdateApplied{1, 1}, "the stage has done all updates of the call"),
      intrusion("step", UpdateApplied{1, 2}, "from stage 2 of replica 1, which"),
      intrusion("feed", Credit{0}, "none of its micro-batches is under way"),
      intrusion("feed", Credit{-1}, "from replica -1, which"),
      intrusion("feed", Credit{2}, "from replica 2, which")};
  for (const UpdateRound round : {UpdateRound::reduce, UpdateRound::measure, UpdateRound::follow,
                                  UpdateRound::apply, UpdateRound::gather, no_round}) {
    all.push_back(intrusion(optimizer, UpdateOrder{round}, idle));
    all.push_back(intrusion("gate", RoundDone{round, 0, 0, wrong_norms()},
                            "RoundDone for the round " + name_of(round) + " of " + stage +
                                " came out of turn: the gate waits for complete gradients"));
  }
  return all;
}

/// Returns messages that an idle engine refuses, and that never come from other processes, because
/// the actors that send and receive them share memory.
std::vector<Intrusion> own_intrusions(const SmallCast& cast) {
  const std::string stage = cast.stage_name(0), optimizer = "optimizer of " + stage;
  return {
      intrusion(optimizer, WindowComplete{1}, "the message WindowComplete came out of turn", 2),
      intrusion(stage, ProgramDone{{Direction::backward, 0}},
                "ProgramDone for the backward of micro-batch 0 came out of turn: the stage runs no "
                "program"),
      intrusion(stage, WeightsReady{}, "the stage does not wait for a weight update"),
      intrusion("step", CallCut{0}, "CallCut after 0 micro-batches came out of turn"),
      intrusion(optimizer, UpdateDone{UpdateRound::apply},
                "UpdateDone for the round \"apply\" came out of turn")};
}

/// Checks that `text` says that `one` was refused by its actor.
void expect_refusal(const std::string& text, const Intrusion& one) {
  EXPECT_TRUE(text.starts_with(one.actor + ": ")) << one.actor << " did not say: " << text;
  EXPECT_NE(text.find(one.refusal), std::string::npos) << one.refusal << " is missing in " << text;
}

TEST(MessagesOutOfTurn, AreRefusedByAnIdleEngine) {
  const SmallCast model(all_rounds());
  std::vector<Intrusion> all = intrusions(model);
  std::ranges::move(own_intrusions(model), std::back_inserter(all));
  for (const Intrusion& one : all) {
    SmallCast cast(all_rounds());
    DeterministicRun order(cast.system());
    order.run();
    for (int time = 0; time < one.times; ++time) {
      EXPECT_EQ(cast.host().failure.text(), "");
      one.send(cast.actor(one.actor));
      order.run();
    }
    expect_refusal(cast.host().failure.text(), one);
    EXPECT_TRUE(testing::same_bits(cast.variables_after_end(), cast.first_variables()));
  }
}

TEST(MessagesOutOfTurn, AreRefusedInACall) {
  const std::string outputs = "StageOutputs of stage 1 (replica 0, IPU 1) for micro-batch 0";
  const TensorList wrong({Tensor({3}, {1, 2, 3}), Tensor({3}, {1, 2, 3})});
  const std::vector<Intrusion> all = {
      intrusion("step", StageOutputs{0, 1, 0}, outputs + ": expected 2 tensors, got 0"),
      intrusion(
          "step", StageOutputs{0, 1, 1},
          "for micro-batch 1 came out of turn: the step waits for the outputs of micro-batch 0"),
      intrusion("step", StageOutputs{0, 1, 0, wrong},
                outputs + ", output \"out\": expected f32[3,8], got f32[3]"),
      intrusion("step", UpdateApplied{1, 1}, "the stage has done all updates of the call", 3),
      intrusion("step", CallCut{2}, "CallCut after 2 micro-batches came out of turn", 2),
      intrusion("step", CallCut{-2}, "CallCut after -2 micro-batches came out of turn"),
      intrusion("step", CallCut{1}, "CallCut after 1 micro-batches came out of turn"),
      intrusion("step", CallCut{6}, "CallCut after 6 micro-batches came out of turn")};
  for (const Intrusion& one : all) {
    SmallCast cast(all_rounds());
    DeterministicRun order(cast.system());
    order.run();
    cast.begin_windows(2);
    for (int time = 0; time < one.times; ++time) one.send(cast.actor(one.actor));
    order.run();
    expect_refusal(cast.host().failure.text(), one);
  }
}

/// Lets `one` come at each moment of a window in turn. Returns the texts of all failures.
std::set<std::string> failures_by(const SmallEngineOptions& options, const Intrusion& one) {
  std::set<std::string> texts;
  for (std::size_t moment = 0;; ++moment) {
    SmallCast cast(options);
    DeterministicRun order(cast.system(), 1);
    order.run();
    cast.begin_windows(1);
    order.steps(moment);
    if (cast.host().answered()) return texts;
    for (int time = 0; time < one.times; ++time) one.send(cast.actor(one.actor));
    order.run();
    EXPECT_TRUE(cast.host().answered()) << "moment " << moment << ", message to " << one.actor;
    texts.insert(cast.host().failure.text());
  }
}

void expect_in_some_moment(const SmallEngineOptions& options, const Intrusion& one) {
  const std::set<std::string> texts = failures_by(options, one);
  EXPECT_TRUE(std::ranges::any_of(texts,
                                  [&](const std::string& text) {
                                    return text.starts_with(one.actor + ": ") &&
                                           text.find(one.refusal) != std::string::npos;
                                  }))
      << one.refusal << " is missing in\n"
      << ::testing::PrintToString(texts);
}

TEST(MessagesOutOfTurn, AreRefusedInTheMiddleOfAnUpdate) {
  const std::string stage = "stage 0 (replica 0, IPU 0)", optimizer = "optimizer of " + stage;
  const std::string gate = " came out of turn: the gate waits for the round ";
  const std::string waits = " came out of turn: the optimizer waits for the gate";
  const auto order = [&](UpdateRound round) {
    return intrusion(optimizer, UpdateOrder{round},
                     "UpdateOrder for the round " + name_of(round) + waits);
  };
  for (const Intrusion& one :
       {intrusion("gate", RoundDone{UpdateRound::measure, 0, 0, wrong_norms()},
                  "does not have the norms that the round \"measure\" measures there"),
        intrusion("gate", RoundDone{UpdateRound::follow, 1, 1, {}},
                  "does not have the norms that the round \"follow\" measures there"),
        intrusion("gate", RoundDone{UpdateRound::apply, 0, 0}, gate + "\"measure\""),
        intrusion("gate", RoundDone{UpdateRound::apply, 0, 0}, gate + "\"apply\"", 2),
        intrusion("gate", RoundDone{UpdateRound::gather, 2, 0}, "from stage 0 of replica 2, which"),
        intrusion("gate", GradientsReady{0, 0}, gate + "\"gather\""),
        // The gradient sums have been added up before, in another round.
        order(UpdateRound::reduce), order(no_round),
        intrusion(optimizer, UpdateDone{UpdateRound::apply},
                  "the optimizer waits for its IPU, which has the round \"measure\""),
        intrusion(optimizer, Release{}, "Release" + waits)})
    expect_in_some_moment(all_rounds(), one);
}

TEST(MessagesOutOfTurn, AreRefusedWhenItIsTheTurnOfAnotherStage) {
  expect_in_some_moment(
      all_rounds("sequential"),
      intrusion(
          "gate", RoundDone{UpdateRound::apply, 1, 1},
          "RoundDone for the round \"apply\" of stage 1 (replica 1, IPU 3) came out of turn: "
          "the gate waits for the round \"apply\" of the weight update of stage 0 (replica 0"));
}

TEST(MessagesOutOfTurn, AreRefusedIfATiedStageIsCompleteTwice) {
  SmallEngineOptions tied = all_rounds();
  tied.tied = true;
  const auto complete = [](int times) {
    return intrusion("optimizer of stage 0 (replica 0, IPU 0)", TiedSumsComplete{1},
                     "TiedSumsComplete of stage 1 came out of turn: the optimizer waits for",
                     times);
  };
  expect_in_some_moment(tied, complete(2));
  // If the false message comes first, it is taken for the stage's own, which is refused then.
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SmallCast cast(tied);
    DeterministicRun order(cast.system(), seed);
    order.run();
    cast.begin_windows(1);
    complete(1).send(cast.actor(complete(1).actor));
    order.run();
    expect_refusal(cast.host().failure.text(), complete(1));
  }
}

/// Counts how many messages the actors handle in a window.
std::size_t moments_of(const SmallEngineOptions& options) {
  SmallCast cast(options);
  DeterministicRun order(cast.system(), 1);
  order.run();
  cast.begin_windows(1);
  return order.run();
}

/// Runs a window and then another one, in an order that is drawn from `seed`. In the middle of the
/// first window, an actor gets a message that nobody should have sent. Returns whether the engine
/// has failed.
bool fails_when_disturbed(const SmallEngineOptions& options, std::size_t moments,
                          std::uint64_t seed) {
  std::mt19937_64 random(seed);
  SmallCast cast(options);
  const auto all = intrusions(cast);
  const Intrusion& one = all[random() % all.size()];
  DeterministicRun order(cast.system(), seed);
  order.run();
  cast.begin_windows(1);
  order.steps(random() % moments);
  one.send(cast.actor(one.actor));
  order.run();
  EXPECT_TRUE(cast.host().answered()) << "seed " << seed << ", message to " << one.actor;
  if (cast.host().failure.text().empty()) {
    cast.finish();
    cast.begin_windows(1);
    order.run();
    EXPECT_TRUE(cast.host().answered()) << "seed " << seed << ", message to " << one.actor;
  }
  const std::string text = cast.host().failure.text();
  const auto says = [&](const Child& child) { return text.starts_with(child.name + ": "); };
  EXPECT_TRUE(text.empty() || std::ranges::any_of(cast.cast().others, says)) << text;
  return !text.empty();
}

// An actor may take a message for another one that it waits for, and then refuses that one, which
// comes later. A sanitizer sees whether an actor uses memory that it should not.
TEST(MessagesOutOfTurn, EndACallWheneverTheyCome) {
  SmallEngineOptions tied = all_rounds(), phased = all_rounds("sequential");
  tied.tied = true;
  phased.phased = graph::PhaseRequest{.turn = 2};
  phased.offload = true;
  for (const SmallEngineOptions& options : {all_rounds(), all_rounds("sequential"), tied, phased}) {
    const std::size_t moments = moments_of(options);
    const std::uint64_t seeds = std::max<std::uint64_t>(testing::orders() / 8, 8);
    std::uint64_t failures = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed)
      failures += fails_when_disturbed(options, moments, seed) ? 1 : 0;
    EXPECT_GT(failures, seeds / 2);
  }
}

}  // namespace
}  // namespace penstock::actors
