#include "actors/execution/stage_core.hpp"
#include "graph/plan/schedules/schedules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "tests/support/refusal.hpp"

namespace penstock::actors {
namespace {

using graph::EdgeKind;
using testing::refusal;

// These are the positions of edges among those from which stage 1 receives in the plan of
// plan_with().
constexpr std::size_t activation = 0, labels = 1, gradient = 2, turn = 3;
constexpr std::size_t positions = 4;

/// Returns a plan of three stages. Stage 1 gets an activation from stage 0, labels from the host,
/// and a gradient and an order edge from stage 2. Stage 1 may hold three micro-batches.
graph::Plan plan_with(std::string_view schedule = "grouped") {
  graph::Plan plan;
  plan.training = true;
  plan.schedule = &graph::find_schedule(schedule);
  plan.edges = {{.kind = EdgeKind::activation, .from = 0, .to = 1, .name = "relu_1"},
                {.kind = EdgeKind::input, .from = graph::host, .to = 1, .name = "labels"},
                {.kind = EdgeKind::gradient, .from = 2, .to = 1, .name = "d_relu_2"},
                {.kind = EdgeKind::order, .from = 2, .to = 1}};
  plan.stages.resize(3);
  plan.stages[1].forward_receives = {0, 1};
  plan.stages[1].backward_receives = {2, 3};
  plan.stages[1].in_flight = 3;
  plan.stages[1].output_slots = 3;
  return plan;
}

constexpr std::int64_t window = 4, live_micro_batches = 7;

/// A Stage has a core of stage 1, and the plan that the core needs as long as it lives.
struct Stage {
  explicit Stage(graph::Plan stage_plan = plan_with(), std::int64_t updates_after = window)
      : plan(std::move(stage_plan)), core(plan, 1, updates_after, live_micro_batches) {}

  void forward_arrives(std::int64_t micro_batch) {
    core.received(activation, micro_batch);
    core.received(labels, micro_batch);
  }
  void backward_arrives(std::int64_t micro_batch) {
    core.received(gradient, micro_batch);
    core.received(turn, micro_batch);
  }
  /// Does the next work, and checks that it is the program of `direction` for `micro_batch`.
  void does(Direction direction, std::int64_t micro_batch) {
    const Work work{direction, micro_batch};
    ASSERT_EQ(core.next(), work);
    core.started(work);
    core.finished(work);
  }
  void forward(std::int64_t micro_batch) { does(Direction::forward, micro_batch); }
  void backward(std::int64_t micro_batch) { does(Direction::backward, micro_batch); }

  graph::Plan plan;
  StageCore core;
};

TEST(StageCore, BeginsNothingBeforeEveryInputIsThere) {
  Stage stage;
  EXPECT_FALSE(stage.core.next());
  stage.core.received(labels, 0);
  EXPECT_FALSE(stage.core.next());
  stage.core.received(activation, 0);
  stage.forward(0);
  stage.core.received(gradient, 0);
  EXPECT_FALSE(stage.core.next());
  stage.core.received(turn, 0);
  stage.backward(0);
}

TEST(StageCore, WorksInMicroBatchOrderWhateverOrderTheInputsArriveIn) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::vector<std::size_t> order(positions * 3);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    Stage stage;
    std::int64_t forwards = 0, backwards = 0;
    // What a backward needs comes only after the forward.
    const auto may_come = [&](std::size_t arrival) {
      return arrival % positions < gradient ||
             static_cast<std::int64_t>(arrival / positions) < forwards;
    };
    while (!order.empty()) {
      const auto next = std::ranges::find_if(order, may_come);
      ASSERT_NE(next, order.end());
      const std::size_t arrival = *next;
      order.erase(next);
      stage.core.received(arrival % positions, static_cast<std::int64_t>(arrival / positions));
      while (const auto work = stage.core.next()) {
        auto& expected = work->direction == Direction::forward ? forwards : backwards;
        ASSERT_EQ(work->micro_batch, expected++) << "seed " << seed;
        ASSERT_LE(backwards, forwards) << "seed " << seed;
        stage.core.started(*work);
        stage.core.finished(*work);
      }
    }
    ASSERT_EQ(backwards, 3) << "seed " << seed;
  }
}

TEST(StageCore, DoesOnePieceOfWorkAtATime) {
  Stage stage;
  stage.forward_arrives(0);
  stage.forward_arrives(1);
  stage.core.started({Direction::forward, 0});
  EXPECT_TRUE(stage.core.busy());
  EXPECT_FALSE(stage.core.next());
  EXPECT_EQ(stage.core.waits_for().text, "runs forward of micro-batch 0");
  stage.core.finished({Direction::forward, 0});
  stage.forward(1);
}

TEST(StageCore, HoldsNoMoreMicroBatchesThanItsLimit) {
  Stage stage;
  for (std::int64_t m = 0; m < window; ++m) stage.forward_arrives(m);
  for (std::int64_t m = 0; m < 3; ++m) stage.forward(m);
  EXPECT_EQ(stage.core.in_flight(), 3);
  EXPECT_FALSE(stage.core.next());
  EXPECT_EQ(stage.core.waits_for().text,
            "waits for gradient \"d_relu_2\" from stage 2, its turn from stage 2 for micro-batch 0 "
            "(holds 3 micro-batches, its limit)");
  stage.backward_arrives(0);
  stage.backward(0);
  stage.forward(3);
  EXPECT_EQ(stage.core.max_in_flight(), 3);
}

TEST(StageCore, PrefersWhatItsScheduleDoes) {
  for (const std::string_view schedule : {"grouped", "interleaved"}) {
    Stage stage(plan_with(schedule));
    stage.forward_arrives(0);
    stage.forward(0);
    stage.forward_arrives(1);
    stage.backward_arrives(0);
    EXPECT_EQ(stage.core.next()->direction,
              schedule == "grouped" ? Direction::forward : Direction::backward);
  }
}

TEST(StageCore, WaitsForTheUpdateAtTheEndOfAWindow) {
  Stage stage;
  for (std::int64_t m = 0; m < window; ++m) {
    EXPECT_FALSE(stage.core.window_complete());
    stage.forward_arrives(m);
    stage.forward(m);
    stage.backward_arrives(m);
    stage.backward(m);
  }
  EXPECT_TRUE(stage.core.window_complete());
  EXPECT_FALSE(stage.core.idle());
  stage.forward_arrives(window);
  EXPECT_FALSE(stage.core.next());
  EXPECT_EQ(stage.core.waits_for().text, "waits for its weight update");
  stage.core.weights_ready();
  EXPECT_FALSE(stage.core.window_complete());
  stage.forward(window);
}

TEST(StageCore, BeginsNoForwardOfTheNextWindowBeforeTheUpdate) {
  Stage stage;
  for (std::int64_t m = 0; m <= window; ++m) stage.forward_arrives(m);
  stage.forward(0);
  stage.backward_arrives(0);
  stage.forward(1);
  stage.forward(2);
  stage.backward(0);
  stage.forward(3);
  stage.backward_arrives(1);
  stage.backward(1);
  EXPECT_EQ(stage.core.in_flight(), 2);  // The stage could hold one more micro-batch.
  EXPECT_FALSE(stage.core.next());
}

TEST(StageCore, NeverWaitsForAnUpdateInInference) {
  Stage stage(plan_with(), 0);
  for (std::int64_t m = 0; m < 20; ++m) {
    stage.forward_arrives(m);
    stage.forward(m);
    stage.backward_arrives(m);
    stage.backward(m);
  }
  EXPECT_FALSE(stage.core.window_complete());
  EXPECT_TRUE(stage.core.idle());
}

TEST(StageCore, OverwritesNoOutputsThatTheHostHasNotRead) {
  graph::Plan plan = plan_with();
  plan.stages[1].outputs = {{.output = 0}};
  Stage stage(plan, 0);
  for (std::int64_t m = 0; m < 3; ++m) {
    stage.forward_arrives(m);
    stage.forward(m);
    stage.core.outputs_sent();
    stage.backward_arrives(m);
    stage.backward(m);
  }
  stage.forward_arrives(3);
  EXPECT_FALSE(stage.core.next());
  EXPECT_EQ(stage.core.waits_for().text, "waits for the host to read its outputs");
  stage.core.outputs_taken();
  stage.forward(3);
}

TEST(StageCore, KnowsWhichProgramRunsAndWhetherOutputsAreUnread) {
  Stage stage;
  EXPECT_FALSE(stage.core.has_unread_outputs());
  stage.core.outputs_sent();
  EXPECT_TRUE(stage.core.has_unread_outputs());
  stage.core.outputs_taken();
  EXPECT_FALSE(stage.core.has_unread_outputs());
  stage.forward_arrives(0);
  const Work first{Direction::forward, 0};
  EXPECT_FALSE(stage.core.runs(first));
  stage.core.started(first);
  EXPECT_TRUE(stage.core.runs(first));
  EXPECT_FALSE(stage.core.runs({Direction::backward, 0}));
  EXPECT_FALSE(stage.core.runs({Direction::forward, 1}));
  stage.core.finished(first);
  EXPECT_FALSE(stage.core.runs(first));
}

TEST(StageCore, TakesWhatABackwardNeedsOnlyOnceTheForwardHasEnded) {
  Stage stage;
  const auto receive = [&](std::size_t position) {
    return refusal(Errc::internal, [&] { stage.core.received(position, 0); });
  };
  const std::string early =
      "unexpected tensor at position 2 of micro-batch 0: its backward needs it, and its forward "
      "has not ended";
  EXPECT_EQ(receive(gradient), early);
  stage.forward_arrives(0);
  stage.core.started({Direction::forward, 0});
  EXPECT_EQ(receive(gradient), early);
  stage.core.finished({Direction::forward, 0});
  EXPECT_EQ(receive(gradient), "accepted");
}

/// Returns a plan in which each stage is a phase, and a turn is a whole window.
graph::Plan batch_serial(bool separate_backward) {
  graph::Plan plan = plan_with("sequential");
  plan.phases = {.of_stage = {0, 1, 2},
                 .numbers = graph::number_phases(3, PhaseLiveness::always_live, separate_backward),
                 .turn = window};
  plan.stages[1].in_flight = plan.stages[1].output_slots = window;
  return plan;
}

// 3.8: a turn begins only once all inputs of all its micro-batches have come.
TEST(StageCore, BeginsATurnWhenAllOfItHasCome) {
  Stage stage(batch_serial(false));
  for (std::int64_t m = 0; m < window; ++m) {
    stage.core.received(labels, m);
    EXPECT_FALSE(stage.core.next());
  }
  for (const std::int64_t m : {0, 1, 3}) stage.core.received(activation, m);
  EXPECT_FALSE(stage.core.next());
  EXPECT_EQ(stage.core.waits_for().text,
            "waits for input \"relu_1\" from stage 0 for micro-batch 2");
  stage.core.received(activation, 2);
  for (std::int64_t m = 0; m < window; ++m) stage.forward(m);
  for (const std::int64_t m : {0, 1, 2}) stage.backward_arrives(m);
  stage.core.received(gradient, 3);
  EXPECT_FALSE(stage.core.next());
  EXPECT_EQ(stage.core.waits_for().text,
            "waits for its turn from stage 2 for micro-batch 3 (holds 4 micro-batches, its limit)");
  stage.core.received(turn, 3);
  for (std::int64_t m = 0; m < window; ++m) stage.backward(m);
  EXPECT_TRUE(stage.core.window_complete());
}

TEST(StageCore, BeginsTheNextTurnLikeTheFirst) {
  Stage stage(batch_serial(false));
  for (std::int64_t first = 0; first < 5 * window; first += window) {
    for (std::int64_t m = first; m < first + window; ++m) {
      EXPECT_FALSE(stage.core.next());
      stage.forward_arrives(m);
    }
    for (std::int64_t m = first; m < first + window; ++m) stage.forward(m);
    for (std::int64_t m = first; m < first + window; ++m) {
      EXPECT_FALSE(stage.core.next());
      stage.backward_arrives(m);
    }
    for (std::int64_t m = first; m < first + window; ++m) stage.backward(m);
    stage.core.weights_ready();
  }
}

/// In this test, stages 1 and 2 are the last phase.
TEST(StageCore, TurnsRoundBeforeTheTurnIsOverUnlessBackwardIsSeparate) {
  for (const bool separate : {false, true}) {
    graph::Plan plan = batch_serial(separate);
    plan.phases.of_stage = {0, 1, 1};
    plan.phases.numbers = graph::number_phases(2, PhaseLiveness::always_live, separate);
    Stage stage(plan);
    for (std::int64_t m = 0; m < window; ++m) stage.forward_arrives(m);
    stage.forward(0);
    stage.backward_arrives(0);
    const Work backward{Direction::backward, 0}, forward{Direction::forward, 1};
    EXPECT_EQ(stage.core.next(), separate ? forward : backward);
  }
}

TEST(StageCore, RefusesWhatTheProtocolDoesNotPromise) {
  Stage stage;
  stage.forward_arrives(0);
  const auto receive = [&](std::size_t position, std::int64_t micro_batch) {
    return refusal(Errc::internal, [&] { stage.core.received(position, micro_batch); });
  };
  EXPECT_EQ(receive(labels, 0),
            "unexpected tensor at position 1 of micro-batch 0: expected each position of "
            "micro-batches 0 to 6 once");
  EXPECT_NE(receive(positions, 0), "accepted");
  EXPECT_NE(receive(labels, live_micro_batches), "accepted");
  EXPECT_NE(receive(labels, -1), "accepted");
  stage.forward(0);
  stage.backward_arrives(0);
  stage.backward(0);
  EXPECT_NE(receive(labels, 0), "accepted");
  EXPECT_EQ(receive(labels, live_micro_batches), "accepted");
}

TEST(StageCore, SaysWhichInputOfWhichMicroBatchItWaitsForAndFromWhom) {
  Stage stage;
  EXPECT_EQ(stage.core.waits_for().text,
            "waits for input \"relu_1\" from stage 0, input \"labels\" from the host for "
            "micro-batch 0");
  stage.core.received(activation, 0);
  EXPECT_EQ(stage.core.waits_for().text,
            "waits for input \"labels\" from the host for micro-batch 0");
  stage.core.received(labels, 0);
  stage.forward(0);
  stage.core.received(turn, 0);
  stage.core.received(labels, 1);
  EXPECT_EQ(stage.core.waits_for().text,
            "waits for gradient \"d_relu_2\" from stage 2 for micro-batch 0; "
            "input \"relu_1\" from stage 0 for micro-batch 1");
}

}  // namespace
}  // namespace penstock::actors
