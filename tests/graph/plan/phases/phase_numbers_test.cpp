// A12 and 3.7 of docs/reference.md: these tests check the numbers of three forward phases and of
// their backward phases against the table of the reference system.
#include "graph/plan/phases/phase_numbers.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace penstock::graph {
namespace {

using enum PhaseLiveness;
using Numbers = std::vector<std::int32_t>;

struct Row {
  PhaseLiveness liveness;
  bool separate_backward;
  Numbers forward;  // These are the numbers in the order of work.
  // These are the numbers in the order of work: the last phase's number is first.
  Numbers backward;
};

const Row table[] = {
    {always_live, false, {0, 1, 2}, {2, 3, 4}},
    {always_live, true, {0, 1, 2}, {4, 5, 6}},
    {off_ipu_after_forward, false, {0, 1, 2}, {6, 7, 8}},
    {off_ipu_after_forward_no_overlap, false, {0, 2, 4}, {8, 10, 12}},
    {off_ipu_after_each_phase, false, {0, 4, 8}, {12, 16, 20}},
};

TEST(PhaseNumbers, A12_OfThreePhasesAreThoseOfTheTable) {
  for (const Row& row : table) {
    Numbers forward, backward;
    for (const PhaseNumbers& phase : number_phases(3, row.liveness, row.separate_backward)) {
      forward.push_back(phase.forward);
      backward.insert(backward.begin(), phase.backward);
    }
    EXPECT_EQ(forward, row.forward) << to_string(row.liveness);
    EXPECT_EQ(backward, row.backward) << to_string(row.liveness);
  }
}

TEST(PhaseNumbers, OfAPhaseHaveTheSameParityInBothDirections) {
  for (const Row& row : table)
    for (std::int32_t phases = 1; phases < 10; ++phases)
      for (const auto& [forward, backward] :
           number_phases(phases, row.liveness, row.separate_backward))
        EXPECT_EQ((backward - forward) % 2, 0) << to_string(row.liveness) << ", " << phases;
}

TEST(PhaseNumbers, OfOnePhaseAreApartOnlyWhereBackwardIs) {
  EXPECT_EQ(number_phases(1, always_live, false), (std::vector<PhaseNumbers>{{0, 0}}));
  EXPECT_EQ(number_phases(1, always_live, true), (std::vector<PhaseNumbers>{{0, 2}}));
  EXPECT_EQ(number_phases(1, off_ipu_after_each_phase, false), (std::vector<PhaseNumbers>{{0, 4}}));
}

}  // namespace
}  // namespace penstock::graph
