#include "graph/passes/memory/memory_budget.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "graph/plan/schedules/grouped.hpp"
#include "graph/plan/schedules/sequential.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

using testing::refusal;

/// Two stages on IPUs 0 and 1: in each 2 kB of weights with a parameter of 1 kB, 1 kB of stash per
/// micro-batch, of which the first stage holds three and the second one, and 0.5 kB of scratch.
Plan two_stages(const Schedule& schedule = grouped) {
  Plan plan{.name = "test", .training = true, .batch = 40, .schedule = &schedule};
  for (std::int32_t i = 0; i < 2; ++i) {
    const int in_flight = schedule.in_flight(i, 2);
    plan.variables.push_back({.name = "w" + std::to_string(i), .stage = i});
    plan.stages.push_back({.ipu = i,
                           .variables = {{.variable = i,
                                          .type = {DType::f32, {250}},
                                          .trainable = true,
                                          .gradients = {{0, 0}}}},
                           .parameter_bytes = 1000,
                           .accumulator_bytes = 1000,
                           .stash_bytes = 1000,
                           .scratch_bytes = 500,
                           .in_flight = in_flight,
                           .stash_slots = in_flight});
  }
  return plan;
}

std::string refused(const Plan& plan, const MemoryBudget& budget, std::int64_t replicas = 1) {
  return refusal(Errc::out_of_memory, [&] {
    expect_fit(plan, replicas, budget, {{"recomputation", [&] { return plan; }}});
  });
}

TEST(MemoryBudget, TakesWhatFitsToTheByteAndRefusesWhatDoesNot) {
  EXPECT_EQ(refused(two_stages(), {.bytes = 5500}), "accepted");
  EXPECT_NE(refused(two_stages(), {.bytes = 5499}), "accepted");
  EXPECT_EQ(refused(two_stages(), {.bytes = 0}), "accepted") << "no limit";
}

TEST(MemoryBudget, SaysWhatAStageNeedsAndWhatWouldMakeItFit) {
  EXPECT_EQ(refused(two_stages(), {.bytes = 4000}),
            "options.topology.ipu_memory_bytes: stage 0 on IPU 0 needs 5.5 kB (2.0 kB for weights "
            "and gradients, 3.0 kB for micro-batches in flight, 500 B for scratch), an IPU has 4.0 "
            "kB; what would help: the schedule sequential, which needs 3.5 kB on the fullest IPU; "
            "or smaller stages");
}

TEST(MemoryBudget, OffersRecomputationWhereThatIsEnough) {
  Plan recomputed = two_stages();
  for (StagePlan& stage : recomputed.stages) stage.stash_bytes = 200;
  const auto offered = [&](std::int64_t bytes) {
    const std::string text = refusal(Errc::out_of_memory, [&] {
      expect_fit(two_stages(), 1, {.bytes = bytes},
                 {{"recomputation", [&] { return recomputed; }}});
    });
    const std::string first = "; what would help: recomputation, which needs 3.1 kB on the ";
    return text.find(first) != text.npos;
  };
  EXPECT_TRUE(offered(3100));
  EXPECT_FALSE(offered(3099));
}

// The first IPU, which is the one refused, would do with 3.1 kB; the second one needs more.
TEST(MemoryBudget, OffersOnlyWhatIsEnoughForEveryIpu) {
  Plan recomputed = two_stages();
  recomputed.stages[0].stash_bytes = 200;
  recomputed.stages[1].stash_bytes = 2000;
  const auto refused_within = [&](std::int64_t bytes) {
    return refusal(Errc::out_of_memory, [&] {
      expect_fit(two_stages(), 1, {.bytes = bytes},
                 {{"recomputation", [&] { return recomputed; }}});
    });
  };
  EXPECT_NE(refused_within(4500).find("recomputation, which needs 4.5 kB on the fullest IPU; or "),
            std::string::npos)
      << refused_within(4500);
  EXPECT_EQ(refused_within(4499).find("recomputation"), std::string::npos);
}

/// The remedies for a plan of 40 samples, 100 bytes each, whose model can have those `possible`.
std::string refused_with_batches(std::int64_t bytes, bool (*possible)(std::int64_t samples)) {
  const auto plan_of = [](std::int64_t samples) {
    Plan plan{.name = "test", .training = true, .batch = samples, .schedule = &grouped};
    plan.stages.push_back({.scratch_bytes = 100 * samples});
    return plan;
  };
  int plans = 0;
  const std::string text = refusal(Errc::out_of_memory, [&] {
    expect_fit(plan_of(40), 1, {.bytes = bytes}, {}, [&](std::int64_t samples) {
      ++plans;
      return possible(samples) ? std::optional(plan_of(samples)) : std::nullopt;
    });
  });
  EXPECT_LE(plans, 6);
  const std::string what = "; what would help: ", last = "smaller stages";
  const auto from = text.find(what) + what.size();
  return text.substr(from, text.size() - last.size() - from);
}

TEST(MemoryBudget, OffersTheLargestMicroBatchThatFits) {
  const auto any = [](std::int64_t) { return true; };
  const auto up_to_9 = [](std::int64_t samples) { return samples < 10; };
  EXPECT_EQ(refused_with_batches(3999, any),
            "micro-batches of 39 samples instead of 40, which needs 3.9 kB; or ");
  EXPECT_EQ(refused_with_batches(1700, any),
            "micro-batches of 17 samples instead of 40, which needs 1.7 kB; or ");
  EXPECT_EQ(refused_with_batches(1700, up_to_9),
            "micro-batches of 9 samples instead of 40, which needs 900 B; or ");
  EXPECT_EQ(refused_with_batches(199, any),
            "micro-batches of 1 sample instead of 40, which needs 100 B; or ");
  EXPECT_EQ(refused_with_batches(99, any), "");
}

TEST(MemoryBudget, OffersNoRemedyThatWouldNotHelp) {
  EXPECT_EQ(refused(two_stages(), {.bytes = 1900}),
            "options.topology.ipu_memory_bytes: stage 0 on IPU 0 needs 5.5 kB (2.0 kB for weights "
            "and gradients, 3.0 kB for micro-batches in flight, 500 B for scratch), an IPU has 1.9 "
            "kB; what would help: smaller stages");
}

TEST(MemoryBudget, CountsTheOptimizersState) {
  const MemoryBudget budget{.bytes = 7499, .state = [](const std::string& name) {
                              return KeptState{name == "w0" ? 2 : 0, true};
                            }};
  const std::string text = refused(two_stages(), budget);
  EXPECT_NE(text.find("stage 0 on IPU 0 needs 7.5 kB (2.0 kB for weights and gradients, 2.0 kB for "
                      "the optimizer's state, "),
            text.npos)
      << text;
}

// 4.3: what is in the host store takes no memory but the scratch that an update works in.
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
    EXPECT_EQ(refused(two_stages(), budget), "accepted") << row.offload.minimum_bytes;
    --budget.bytes;
    EXPECT_NE(refused(two_stages(), budget), "accepted") << row.offload.minimum_bytes;
  }
}

/// What is offered besides the plan of two stages: its state in the host store, its gradient sums,
/// and both.
std::string refused_with_classes(std::int64_t bytes) {
  const MemoryBudget budget{.bytes = bytes, .state = [](const std::string&) {
                              return KeptState{2, true};
                            }};
  const auto without_sums = [] {
    Plan plan = two_stages();
    for (StagePlan& stage : plan.stages) stage.accumulator_bytes = 0;
    return plan;
  };
  return refusal(Errc::out_of_memory, [&] {
    expect_fit(two_stages(), 1, budget,
               {{"the state", [] { return two_stages(); }, true, 1},
                {"the sums", without_sums, false, 1},
                {"both", without_sums, true, 2},
                {"recomputation", [] { return two_stages(); }}});
  });
}

TEST(MemoryBudget, OffersTheHostStoreWhereThatIsEnough) {
  EXPECT_NE(
      refused_with_classes(7048).find(
          "; what would help: the state, which needs 7.0 kB on the fullest IPU; or the sums, which "
          "needs 6.5 kB on the fullest IPU; or "),
      std::string::npos)
      << refused_with_classes(7048);
  EXPECT_EQ(refused_with_classes(7047).find("the state, "), std::string::npos);
}

// 4.3, A8: two classes together where one alone is not enough, and only there.
TEST(MemoryBudget, OffersSeveralClassesWhereFewerAreNotEnough) {
  EXPECT_EQ(refused_with_classes(6500).find("both"), std::string::npos);
  EXPECT_NE(refused_with_classes(6499).find(
                "; what would help: both, which needs 6.0 kB on the fullest IPU; or "),
            std::string::npos)
      << refused_with_classes(6499);
  EXPECT_NE(refused_with_classes(6048).find("both, "), std::string::npos);
  EXPECT_EQ(refused_with_classes(6047).find("both, "), std::string::npos);
}

// 4.3: the room for weights is there once, for the largest of an IPU's stages.
TEST(MemoryBudget, CountsTheWeightsInTheHostStoreAsRoomForOneStage) {
  Plan plan = two_stages();
  plan.stages[1].ipu = 0;
  plan.stages[0].host_parameter_bytes = 600;
  plan.stages[1].host_parameter_bytes = 400;
  const std::int64_t bytes = 4 * 1000 + 600 + 4 * 1000 + 500;
  EXPECT_EQ(refused(plan, {.bytes = bytes}), "accepted");
  EXPECT_NE(refused(plan, {.bytes = bytes - 1}), "accepted");
}

// 3.7: one computes while the weights of the other come; with numbers two apart that is not asked.
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
    EXPECT_EQ(refused(plan, {.bytes = rest + rooms}), "accepted");
    EXPECT_NE(refused(plan, {.bytes = rest + rooms - 1}), "accepted");
  }
}

// 4.4: ceil(n/R) elements of each of two tensors of 250.
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
    EXPECT_EQ(refused(two_stages(), budget), "accepted") << row.elements;
    --budget.bytes;
    EXPECT_NE(refused(two_stages(), budget), "accepted") << row.elements;
  }
}

TEST(MemoryBudget, OffersShardsWhereTheyAreEnough) {
  MemoryBudget budget{.bytes = 6500,
                      .state =
                          [](const std::string&) {
                            return KeptState{2, true};
                          },
                      .shard_state = {.minimum_elements = 250},
                      .replicas = 2};
  EXPECT_NE(refused(two_stages(), budget)
                .find("; what would help: the optimizer's state divided among the replicas "
                      "(options.training.sharding.optimizer_state), which needs 6.5 kB on the "
                      "fullest IPU; or "),
            std::string::npos)
      << refused(two_stages(), budget);
  budget.bytes = 6499;
  EXPECT_EQ(refused(two_stages(), budget).find("divided"), std::string::npos);
}

TEST(MemoryBudget, AddsUpTheStagesOfAnIpuWhichShareScratch) {
  Plan plan = two_stages();
  plan.stages[1].ipu = 0;
  EXPECT_EQ(refused(plan, {.bytes = 2000 + 3000 + 2000 + 1000 + 500}), "accepted");
  const std::string text = refused(plan, {.bytes = 8499});
  EXPECT_NE(text.find("stages 0 and 1 on IPU 0 need 8.5 kB"), text.npos) << text;
  EXPECT_NE(text.find("; or fewer stages on the IPU"), text.npos) << text;
}

TEST(MemoryBudget, GivesEveryReplicaIpusOfItsOwn) {
  Plan plan = two_stages();
  plan.stages[1].ipu = 2;  // the number of stages
  for (const std::int64_t replicas : {1, 2, 5})
    EXPECT_EQ(refused(plan, {.bytes = 5500}, replicas), "accepted") << replicas;
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
