#include "actors/execution/phase_herald.hpp"

#include <gtest/gtest.h>

namespace penstock::actors {
namespace {

using graph::Plan;
using StageList = std::vector<std::size_t>;

/// Returns a plan of three phases of two, one and two stages, with turns of four micro-batches.
Plan plan_of_three_phases(bool training = true) {
  Plan plan;
  plan.training = training;
  plan.phases.of_stage = {0, 0, 1, 2, 2};
  plan.phases.numbers = {{0, 5}, {1, 4}, {2, 3}};
  plan.phases.turn = 4;
  return plan;
}

StageList stages_told_after(const PhaseHerald& herald, const Work& work) {
  const auto news = herald.news_of(work);
  return news ? StageList(news->stages.begin(), news->stages.end()) : StageList{};
}

constexpr Work forward_of(std::int64_t micro_batch) {
  return {Direction::forward, micro_batch};
}
constexpr Work backward_of(std::int64_t micro_batch) {
  return {Direction::backward, micro_batch};
}

TEST(PhaseHerald, TellsAllStagesOfTheNextPhaseWithTheFirstWorkOfATurn) {
  const Plan plan = plan_of_three_phases();
  EXPECT_EQ(stages_told_after(PhaseHerald(plan, 0), forward_of(4)), (StageList{2}));
  EXPECT_EQ(stages_told_after(PhaseHerald(plan, 2), forward_of(4)), (StageList{3, 4}));
  EXPECT_EQ(stages_told_after(PhaseHerald(plan, 2), backward_of(8)), (StageList{0, 1}));
  EXPECT_EQ(PhaseHerald(plan, 2).news_of(backward_of(8))->near, backward_of(8));
  for (const std::int64_t later : {5, 6, 7})
    EXPECT_FALSE(PhaseHerald(plan, 0).news_of(forward_of(later)));
}

TEST(PhaseHerald, SpeaksForTheStageThatBeginsThePhaseOnly) {
  const Plan plan = plan_of_three_phases();
  EXPECT_FALSE(PhaseHerald(plan, 1).news_of(forward_of(0)));
  EXPECT_FALSE(PhaseHerald(plan, 3).news_of(backward_of(0)));
  EXPECT_EQ(stages_told_after(PhaseHerald(plan, 4), backward_of(0)), (StageList{2}))
      << "the last stage begins";
}

TEST(PhaseHerald, HasNoNewsWhereNoTurnComesOrThereAreNone) {
  EXPECT_FALSE(PhaseHerald(plan_of_three_phases(false), 3).news_of(forward_of(0)));
  EXPECT_FALSE(PhaseHerald(plan_of_three_phases(), 0).news_of(backward_of(0)))
      << "nothing comes after the last turn";
  Plan plan = plan_of_three_phases();
  plan.phases = {};
  EXPECT_FALSE(PhaseHerald(plan, 0).news_of(forward_of(0)));
}

}  // namespace
}  // namespace penstock::actors
