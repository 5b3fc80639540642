#include "graph/passes/stages/phase_assignment.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

using testing::refusal;
using Numbers = std::vector<std::int32_t>;

constexpr bool serial = false, parallel = true;

/// Returns the phases and the default IPUs of `count` stages.
std::pair<Numbers, Numbers> grouped(std::size_t count, const PhaseRequest& request) {
  Numbers phases, ipus;
  for (const StageRequest& stage : grouped_into_phases(std::vector<StageRequest>(count), request)) {
    phases.push_back(stage.phase);
    ipus.push_back(stage.default_ipu);
  }
  return {phases, ipus};
}

TEST(PhaseAssignment, MakesEachStageAPhaseUnlessToldOtherwise) {
  using Both = std::pair<Numbers, Numbers>;
  EXPECT_EQ(grouped(4, {.parallel = serial}), (Both{{0, 1, 2, 3}, {0, 0, 0, 0}}));
  EXPECT_EQ(grouped(4, {.parallel = parallel}), (Both{{0, 1, 2, 3}, {0, 1, 0, 1}}));
  EXPECT_EQ(grouped(5, {.parallel = serial, .stages = {2, 1, 2}}),
            (Both{{0, 0, 1, 2, 2}, {0, 1, 0, 0, 1}}));
  EXPECT_EQ(grouped(5, {.parallel = parallel, .stages = {2, 1, 2}}),
            (Both{{0, 0, 1, 2, 2}, {0, 2, 1, 0, 2}}));
}

struct Placed {
  std::int32_t phase, ipu;
  bool left_out = false;
};

Phases assigned(const std::vector<Placed>& stages, const PhaseRequest& request) {
  StageAssignment assignment;
  for (const auto& [phase, ipu, left_out] : stages) {
    assignment.placed.push_back({.ipu = ipu, .phase = phase});
    if (!left_out) assignment.stages.push_back(assignment.placed.back());
  }
  return assign_phases(assignment, request);
}

TEST(PhaseAssignment, NumbersPhasesAndForgetsThoseWithoutAStage) {
  const Phases phases =
      assigned({{0, 0}, {0, 1}, {1, 0, true}, {2, 0}}, {.separate_backward = true, .turn = 8});
  EXPECT_EQ(phases.of_stage, (Numbers{0, 0, 1}));
  EXPECT_EQ(phases.numbers, (std::vector<PhaseNumbers>{{0, 4}, {1, 3}}));
  EXPECT_EQ(phases.turn, 8);
}

std::string refused(const std::vector<Placed>& stages, bool in_parallel) {
  return refusal(Errc::invalid_topology, [&] { assigned(stages, {.parallel = in_parallel}); });
}

TEST(PhaseAssignment, AcceptsEveryPlacementOnTheIpusOfTheStrategy) {
  EXPECT_EQ(refused({{0, 3}, {0, 5}, {1, 5}, {2, 5}, {2, 3}}, serial), "accepted");
  EXPECT_EQ(refused({{0, 4}, {0, 2}, {1, 1}, {2, 0}, {3, 7}, {3, 5}}, parallel), "accepted");
}

TEST(PhaseAssignment, LetsTheOthersStayWhereOneIsLeftOut) {
  EXPECT_EQ(refused({{0, 0}, {1, 1, true}, {2, 0}}, parallel), "accepted");
  EXPECT_EQ(refused({{0, 3, true}, {0, 5, true}, {1, 5}, {2, 3}}, serial), "accepted");
  EXPECT_EQ(refused({{0, 0}, {1, 1, true}, {2, 1}}, parallel),
            "parallel_phased: phase 2 is on IPU 1; expected even phases on even IPUs and odd "
            "phases on odd");
}

TEST(PhaseAssignmentRefuses, TwoStagesOfAPhaseOnOneIpu) {
  EXPECT_EQ(refused({{0, 0}, {1, 0}, {1, 0}}, serial),
            "phase 1: stage 2 and one before it are on IPU 0; the stages of a phase run at the "
            "same time, each on an IPU of its own");
}

TEST(PhaseAssignmentRefuses, SerialPhasesOnTwoSetsOfIpus) {
  EXPECT_EQ(refused({{0, 0}, {0, 2}, {1, 2}, {2, 1}}, serial),
            "serial_phased: phase 2 is on IPU 1; expected all phases on the same, IPUs 0, 2 (for "
            "two sets of IPUs there is parallel_phased)");
  EXPECT_EQ(refused({{0, 0}, {1, 1}}, serial),
            "serial_phased: phase 1 is on IPU 1; expected all phases on the same, IPU 0 (for two "
            "sets of IPUs there is parallel_phased)");
}

TEST(PhaseAssignmentRefuses, ParallelPhasesOnIpusOfTheOtherParity) {
  EXPECT_EQ(refused({{0, 0}, {1, 1}, {1, 2}}, parallel),
            "parallel_phased: phase 1 is on IPU 2; expected even phases on even IPUs and odd "
            "phases on odd");
}

}  // namespace
}  // namespace penstock::graph
