// 3.7 of docs/reference.md: these tests check how long the weights of a phase are on its IPUs.
#include "graph/plan/phases/residency.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace penstock::graph {
namespace {

using enum PhaseLiveness;

Phases phases_of(std::int32_t count, PhaseLiveness liveness, bool separate = false) {
  Phases phases{.numbers = number_phases(count, liveness, separate)};
  for (std::int32_t stage = 0; stage < count; ++stage) phases.of_stage.push_back(stage);
  return phases;
}

using Stays = std::vector<Stay>;

TEST(Residency, OfPhasesThatAreNearLastsFromForwardToBackward) {
  EXPECT_EQ(stays_of(phases_of(3, always_live), true),
            (Stays{{0, 0, 0}, {1, 0, 3}, {2, 1, 2}, {0, 3, 4}}));
  EXPECT_EQ(stays_of(phases_of(3, always_live, true), true),
            (Stays{{0, 0, 0}, {1, 0, 1}, {2, 1, 4}, {1, 4, 5}, {0, 5, 6}}));
}

TEST(Residency, EndsWithForwardWhereTensorsAreForcedOff) {
  EXPECT_EQ(stays_of(phases_of(3, off_ipu_after_forward), true),
            (Stays{{0, 0, 0}, {1, 0, 1}, {2, 1, 2}, {2, 6, 6}, {1, 6, 7}, {0, 7, 8}}));
}

TEST(Residency, NeverOverlapsTheTurnOfAnotherPhaseWhereCopiesMayNot) {
  EXPECT_EQ(stays_of(phases_of(3, off_ipu_after_forward_no_overlap), true),
            (Stays{{0, 0, 0}, {1, 2, 2}, {2, 4, 4}, {2, 8, 8}, {1, 10, 10}, {0, 12, 12}}));
  EXPECT_EQ(stays_of(phases_of(3, off_ipu_after_each_phase), true),
            (Stays{{0, 0, 0}, {1, 4, 4}, {2, 8, 8}, {2, 12, 12}, {1, 16, 16}, {0, 20, 20}}));
}

TEST(Residency, OfInferenceIsThatOfForward) {
  EXPECT_FALSE(comes_during(phases_of(3, always_live), {2, Direction::backward}, false));
  EXPECT_EQ(stays_of(phases_of(3, always_live), false), (Stays{{0, 0, 0}, {1, 0, 1}, {2, 1, 2}}));
}

/// For any number of phases, two rooms are enough on an IPU that runs all phases.
TEST(Residency, IsOfTwoPhasesAtMostWhichHaveRoomsOfTheirOwn) {
  for (const PhaseLiveness liveness : {always_live, off_ipu_after_forward,
                                       off_ipu_after_forward_no_overlap, off_ipu_after_each_phase})
    for (const bool separate : {false, true})
      for (std::int32_t count = 1; count < 12; ++count) {
        const Phases phases = phases_of(count, liveness, separate);
        const auto stays = stays_of(phases, true);
        for (std::size_t i = 0; i < stays.size(); ++i) {
          EXPECT_LE(stays[i].to - stays[i].from, longest_stay + 1);
          for (std::size_t k = 0; k < i; ++k) {
            const bool overlap = stays[i].from <= stays[k].to && stays[k].from <= stays[i].to;
            const bool same_room =
                room_of(phases, stays[i].phase) == room_of(phases, stays[k].phase);
            EXPECT_FALSE(overlap && same_room)
                << to_string(liveness) << ", " << count << " phases: " << stays[i].phase << " and "
                << stays[k].phase;
          }
        }
      }
}

}  // namespace
}  // namespace penstock::graph
