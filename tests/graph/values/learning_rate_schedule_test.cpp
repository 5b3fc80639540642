// These tests compare schedules with the closed forms of PyTorch's (torch.optim.lr_scheduler).
#include "penstock/learning_rate_schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using Schedule = LearningRateSchedule;
using testing::refusal;

std::vector<double> factors(const Schedule& schedule, std::int64_t updates) {
  std::vector<double> result;
  for (std::int64_t update = 0; update < updates; ++update) result.push_back(schedule.at(update));
  return result;
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-12) << i;
}

TEST(LearningRateSchedule, IsConstantUnlessSaidOtherwise) {
  expect_near(factors({}, 3), {1, 1, 1});
  expect_near(factors(Schedule::constant(0.5), 3), {0.5, 0.5, 0.5});
}

TEST(LearningRateSchedule, StepsAfterEachSoManyUpdates) {
  expect_near(factors(Schedule::step(2, 0.5), 6), {1, 1, 0.5, 0.5, 0.25, 0.25});
}

TEST(LearningRateSchedule, DecaysExponentially) {
  expect_near(factors(Schedule::exponential(0.5), 4), {1, 0.5, 0.25, 0.125});
}

TEST(LearningRateSchedule, FollowsHalfACosineAndStaysAtItsEnd) {
  const double eighth = std::sqrt(0.5) / 2;
  expect_near(factors(Schedule::cosine(4), 6), {1, 0.5 + eighth, 0.5, 0.5 - eighth, 0, 0});
  EXPECT_NEAR(Schedule::cosine(4, 0.2).at(2), 0.6, 1e-12);
  EXPECT_NEAR(Schedule::cosine(4, 0.2).at(1000), 0.2, 1e-12);
}

TEST(LearningRateSchedule, WarmsUpInEqualStepsBeforeTheRest) {
  expect_near(factors(Schedule::step(2, 0.5).after_warm_up(4), 8),
              {0, 0.25, 0.5, 0.75, 1, 1, 0.5, 0.5});
  expect_near(factors(Schedule().after_warm_up(2, 0.5), 4), {0.5, 0.75, 1, 1});
  EXPECT_EQ(Schedule::linear(4, 1, 0).at(9), 0);
}

TEST(LearningRateSchedule, IsMadeOfOthers) {
  const Schedule two = Schedule::constant(0.5).then(2, Schedule::exponential(0.5));
  expect_near(factors(two, 5), {0.5, 0.5, 1, 0.5, 0.25});
  expect_near(factors(two.then(3, Schedule::constant(9)), 5), {0.5, 0.5, 1, 9, 9});
  expect_near(factors(two.then(1, Schedule::constant(9)), 3), {0.5, 9, 9});
  expect_near(factors(Schedule::constant(3).then(2, two), 6), {3, 3, 0.5, 0.5, 1, 0.5});
}

TEST(LearningRateSchedule, RefusesWhatIsOutOfRange) {
  const std::pair<std::function<void()>, const char*> cases[] = {
      {[] { Schedule::step(0); },
       "learning rate schedule, step: updates: expected 1 or more, got 0"},
      {[] { Schedule::cosine(5, -1); },
       "learning rate schedule, cosine: last: expected 0 or more, got -1"},
      {[] { Schedule::exponential(std::nan("")); },
       "learning rate schedule, exponential: factor: expected 0 or more, got nan"},
      {[] { Schedule().after_warm_up(-3); },
       "learning rate schedule, linear: updates: expected 1 or more, got -3"},
      {[] { Schedule().then(0, {}); },
       "learning rate schedule, then: updates: expected 1 or more, got 0"},
      {[] { static_cast<void>(Schedule::exponential(0.5).at(-5)); },
       "learning rate schedule, at: update: expected 0 or more, got -5"},
  };
  for (const auto& [action, text] : cases) EXPECT_EQ(refusal(Errc::invalid_argument, action), text);
}

}  // namespace
}  // namespace penstock
