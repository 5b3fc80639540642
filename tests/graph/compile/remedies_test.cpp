#include "graph/compile/remedies.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/graph/passes/memory/two_stages.hpp"

namespace penstock::graph {
namespace {

using Texts = std::vector<std::string>;

/// Returns each remedy and its consequence, as text.
Texts texts(const Remedies& remedies) {
  Texts result;
  for (const Remedy& remedy : remedies.found())
    result.push_back(remedy.text + ", " + remedy.consequence);
  return result;
}

const std::string recomputation = "recomputation, which needs ";

/// Returns the remedy "recomputation" if it makes the plan fit into `bytes`, or nothing.
/// Recomputation leaves the two stages with the stashes `first_stash` and `second_stash`.
Texts recomputed_within(std::int64_t bytes, std::int64_t first_stash, std::int64_t second_stash) {
  const Plan failed = two_stages();
  Plan recomputed = failed;
  recomputed.stages[0].stash_bytes = first_stash;
  recomputed.stages[1].stash_bytes = second_stash;
  const MemoryBudget budget{.bytes = bytes};
  Remedies remedies(failed, 1, budget);
  remedies.try_plan(penstock::graph::recomputation({}), recomputed, budget);
  return texts(remedies);
}

TEST(Remedies, AreThosePlansThatFit) {
  EXPECT_EQ(recomputed_within(3100, 200, 200), Texts{recomputation + "3.1 kB on the fullest IPU"});
  EXPECT_EQ(recomputed_within(3099, 200, 200), Texts());
}

// With recomputation, the first IPU, for which the plan was refused, needs 3.1 kB only, but the
// second IPU needs more.
TEST(Remedies, AreEnoughForEveryIpu) {
  EXPECT_EQ(recomputed_within(4500, 200, 2000), Texts{recomputation + "4.5 kB on the fullest IPU"});
  EXPECT_EQ(recomputed_within(4499, 200, 2000), Texts());
}

TEST(Remedies, AreSchedulesWithFewerMicroBatchesInFlight) {
  const Plan failed = two_stages();
  const auto schedules_within = [&](std::int64_t bytes) {
    const MemoryBudget budget{.bytes = bytes};
    Remedies remedies(failed, 1, budget);
    remedies.try_schedules();
    return texts(remedies);
  };
  EXPECT_EQ(schedules_within(4000),
            Texts{"the schedule sequential, which needs 3.5 kB on the fullest IPU"});
  EXPECT_EQ(schedules_within(1900), Texts());
}

const MemoryBudget with_state{.state = [](const std::string&) { return KeptState{2, true}; }};

TEST(Remedies, AreShardsWhereTheyAreEnough) {
  const Plan failed = two_stages();
  const auto shards_within = [&](std::int64_t bytes) {
    MemoryBudget budget = with_state;
    budget.bytes = bytes;
    budget.shard_state.minimum_elements = 250;
    budget.replicas = 2;
    Remedies remedies(failed, 1, budget);
    remedies.try_shards();
    return texts(remedies);
  };
  EXPECT_EQ(shards_within(6500),
            Texts{"the optimizer's state divided among the replicas, which needs 6.5 kB on the "
                  "fullest IPU"});
  EXPECT_EQ(shards_within(6499), Texts());
}

/// Returns which remedies are offered within `bytes`: the state in the host store, the gradient
/// sums there, or both.
Texts classes_within(std::int64_t bytes) {
  const Plan failed = two_stages();
  Plan without_sums = failed;
  for (StagePlan& stage : without_sums.stages) stage.accumulator_bytes = 0;
  MemoryBudget budget = with_state;
  budget.bytes = bytes;
  MemoryBudget without_state = budget;
  without_state.offload_state.on = true;
  Remedies remedies(failed, 1, budget);
  const auto offer = [&](const char* name, const Plan& plan, const MemoryBudget& of, int classes) {
    if (remedies.is_wanted(classes)) remedies.try_plan({.text = name}, plan, of, classes);
  };
  offer("the state", failed, without_state, 1);
  offer("the sums", without_sums, budget, 1);
  offer("both", without_sums, without_state, 2);
  offer("recomputation", failed, budget, 0);
  return texts(remedies);
}

// 4.3 and A8 of docs/reference.md: two classes together are offered if one alone is not enough, and
// only then.
TEST(Remedies, AreSeveralClassesInTheHostStoreWhereFewerAreNotEnough) {
  const std::string state = "the state, which needs 7.0 kB on the fullest IPU",
                    sums = "the sums, which needs 6.5 kB on the fullest IPU",
                    both = "both, which needs 6.0 kB on the fullest IPU";
  EXPECT_EQ(classes_within(7048), (Texts{state, sums}));
  EXPECT_EQ(classes_within(7047), Texts{sums});
  EXPECT_EQ(classes_within(6500), Texts{sums});
  EXPECT_EQ(classes_within(6499), Texts{both});
  EXPECT_EQ(classes_within(6048), Texts{both});
  EXPECT_EQ(classes_within(6047), Texts());
}

Plan plan_of(std::int64_t samples) {
  Plan plan{.name = "test", .training = true, .batch = samples, .schedule = &grouped};
  plan.stages.push_back({.scratch_bytes = 100 * samples});
  return plan;
}

TEST(Remedies, AreSmallerMicroBatches) {
  const Plan failed = plan_of(40);
  const MemoryBudget budget{.bytes = 900};
  Remedies remedies(failed, 1, budget);
  remedies.try_batch(plan_of(9));
  remedies.try_batch(plan_of(1));
  EXPECT_EQ(texts(remedies), (Texts{"micro-batches of 9 samples instead of 40, which needs 900 B",
                                    "micro-batches of 1 sample instead of 40, which needs 100 B"}));
}

/// Returns the largest micro-batch that the search finds among those that `fits` accepts. Checks
/// that the search tries no more than halving needs.
std::int64_t largest_batch(std::int64_t too_many, const auto& fits) {
  BatchSearch search(too_many);
  std::int64_t largest = 0;
  int tried = 0;
  while (const auto samples = search.next()) {
    const bool found = fits(*samples);
    if (found) largest = *samples;
    search.note(found);
    ++tried;
  }
  EXPECT_LE(tried, 6);
  return largest;
}

TEST(BatchSearch, FindsTheLargestMicroBatchThatFits) {
  for (std::int64_t most = 0; most < 40; ++most)
    EXPECT_EQ(largest_batch(40, [&](std::int64_t samples) { return samples <= most; }), most);
  EXPECT_EQ(largest_batch(1, [](std::int64_t) { return true; }), 0);
}

}  // namespace
}  // namespace penstock::graph
