#include "graph/passes/memory/memory_budget.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "tests/graph/passes/memory/two_stages.hpp"

namespace penstock::graph {
namespace {

bool fits_within(const Plan& plan, const MemoryBudget& budget, std::int64_t replicas = 1) {
  return fits(plan, replicas, budget);
}

TEST(MemoryBudget, TakesWhatFitsToTheByteAndRefusesWhatDoesNot) {
  EXPECT_TRUE(fits_within(two_stages(), {.bytes = 5500}));
  EXPECT_FALSE(fits_within(two_stages(), {.bytes = 5499}));
  EXPECT_TRUE(fits_within(two_stages(), {.bytes = 0})) << "no limit";
}

// 4.3 of docs/reference.md: state in the host store takes no memory of an IPU except the scratch
// for its updates.
TEST(MemoryBudget, CountsOffloadedStateOnlyAsScratchOfTheUpdate) {
  struct Row {
    Offload offload;
    bool elementwise;
    std::int64_t bytes;
  };
  const Row rows[] = {
      {{.on = false}, true, 5500 + 2000},
      {{.on = true}, true, 5500 + 2 * 1024 - 500},
      {{.on = true}, false, 5500 + 2 * 1024 - 500},
      {{.on = true, .minimum_bytes = 1000}, true, 5500 + 2 * 1024 - 500},
      {{.on = true, .minimum_bytes = 1001}, true, 5500 + 2000},
  };
  for (const Row& row : rows) {
    MemoryBudget budget{.bytes = row.bytes,
                        .state =
                            [&](const std::string&) {
                              return KeptState{2, row.elementwise};
                            },
                        .offload_state = row.offload};
    EXPECT_TRUE(fits_within(two_stages(), budget)) << row.offload.minimum_bytes;
    --budget.bytes;
    EXPECT_FALSE(fits_within(two_stages(), budget)) << row.offload.minimum_bytes;
  }
}

// 4.3 of docs/reference.md: an IPU has one room for weights, as large as the largest of its stages
// needs.
TEST(MemoryBudget, CountsTheWeightsInTheHostStoreAsRoomForOneStage) {
  Plan plan = two_stages();
  plan.stages[1].ipu = 0;
  plan.stages[0].host_parameter_bytes = 600;
  plan.stages[1].host_parameter_bytes = 400;
  const std::int64_t bytes = 4 * 1000 + 600 + 4 * 1000 + 500;
  EXPECT_TRUE(fits_within(plan, {.bytes = bytes}));
  EXPECT_FALSE(fits_within(plan, {.bytes = bytes - 1}));
}

// 3.7 of docs/reference.md: one phase computes while the weights of the other phase come, so that
// there are two rooms. If the numbers of the phases are two apart, one room is enough.
TEST(MemoryBudget, CountsARoomForPhasesWithEvenAndOneForPhasesWithOddNumbers) {
  Plan plan = two_stages();
  plan.stages[1].ipu = 0;
  plan.stages[0].host_parameter_bytes = 600;
  plan.stages[1].host_parameter_bytes = 400;
  plan.phases.of_stage = {0, 1};
  const std::int64_t rest = 4 * 1000 + 4 * 1000 + 500;
  for (const auto& [liveness, rooms] : {std::pair(PhaseLiveness::always_live, 600 + 400),
                                        {PhaseLiveness::off_ipu_after_forward_no_overlap, 600}}) {
    plan.phases.numbers = number_phases(2, liveness, false);
    EXPECT_TRUE(fits_within(plan, {.bytes = rest + rooms}));
    EXPECT_FALSE(fits_within(plan, {.bytes = rest + rooms - 1}));
  }
}

// 4.4 of docs/reference.md: of each of two state tensors of n = 250 elements, each replica keeps
// ceil(n/R) elements.
TEST(MemoryBudget, CountsOfDividedStateTheShardOnly) {
  struct Row {
    ReplicaSharding sharding;
    std::int64_t replicas;
    std::int64_t elements;
  };
  const Row rows[] = {{{.on = true, .minimum_elements = 250}, 1, 250},
                      {{.on = true, .minimum_elements = 250}, 2, 125},
                      {{.on = true, .minimum_elements = 250}, 3, 84},
                      {{.on = true, .minimum_elements = 251}, 3, 250},
                      {{.on = false, .minimum_elements = 2}, 3, 250}};
  for (const Row& row : rows) {
    MemoryBudget budget{.bytes = 5500 + 2 * 4 * row.elements,
                        .state =
                            [](const std::string&) {
                              return KeptState{2, true};
                            },
                        .shard_state = row.sharding,
                        .replicas = row.replicas};
    EXPECT_TRUE(fits_within(two_stages(), budget)) << row.elements;
    --budget.bytes;
    EXPECT_FALSE(fits_within(two_stages(), budget)) << row.elements;
  }
}

TEST(MemoryBudget, AddsUpTheStagesOfAnIpuWhichShareScratch) {
  Plan plan = two_stages();
  plan.stages[1].ipu = 0;
  EXPECT_TRUE(fits_within(plan, {.bytes = 2000 + 3000 + 2000 + 1000 + 500}));
  EXPECT_FALSE(fits_within(plan, {.bytes = 8499}));
}

TEST(MemoryBudget, GivesEveryReplicaIpusOfItsOwn) {
  Plan plan = two_stages();
  plan.stages[1].ipu = 2;  // The number of the IPU equals the number of stages.
  for (const std::int64_t replicas : {1, 2, 5})
    EXPECT_TRUE(fits_within(plan, {.bytes = 5500}, replicas)) << replicas;
}

TEST(MemoryBudget, WritesSizesInTheUnitThatSuitsThem) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(999), "999 B");
  EXPECT_EQ(size_text(1000), "1.0 kB");
  EXPECT_EQ(size_text(999'949), "999.9 kB");
  EXPECT_EQ(size_text(999'950), "1.0 MB");
  EXPECT_EQ(size_text(1'500'000'000), "1.5 GB");
  EXPECT_EQ(size_text(5'000'000'000'000), "5000.0 GB");
}

}  // namespace
}  // namespace penstock::graph
