#include "graph/replica_ipus.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "graph/compile.hpp"
#include "tests/support/random_network.hpp"

namespace penstock::graph {
namespace {

using Ipus = std::vector<std::int32_t>;

TEST(ReplicaIpus, A13_AreShiftedByTheNumberOfStages) {
  EXPECT_EQ(replica_shift(Ipus{0, 1, 2}, false), 3);
  EXPECT_EQ(replica_shift(Ipus{7, 7}, false), 2);
  EXPECT_EQ(used_ipus(Ipus{0, 1, 1, 0}, 2, false), 4);
  EXPECT_EQ(used_ipus(Ipus{0, 3}, 3, false), 6);
  EXPECT_EQ(used_ipus(Ipus{0, 2}, 2, false), 3) << "2 is of both";
}

TEST(ReplicaIpus, A13_OfParallelPhasesAreApartAndKeepTheirParity) {
  EXPECT_EQ(replica_shift(Ipus{0, 1, 3, 5, 0}, true), 6);
  EXPECT_EQ(replica_shift(Ipus{0, 1, 0}, true), 2);
  EXPECT_EQ(replica_shift(Ipus{0}, true), 2);
  EXPECT_EQ(replica_shift(Ipus{65001, 65000}, true), 2);
  EXPECT_EQ(used_ipus(Ipus{0, 1, 3, 5, 0}, 2, true), 8);
}

TEST(ReplicaIpus, A13_OfAPlanOfParallelPhasesAreSharedByNoTwoReplicas) {
  const CompileRequest request{.training = true,
                               .phased = PhaseRequest{.parallel = true, .stages = {1, 3}}};
  const Plan plan = compile(testing::random_network(1).graph(), request).plan;
  std::set<std::int64_t> all;
  std::size_t each = 0;
  for (std::int64_t replica = 0; replica < 3; ++replica) {
    std::set<std::int64_t> own;
    for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
      own.insert(ipu_of(plan, replica, stage));
      EXPECT_EQ(ipu_of(plan, replica, stage) % 2, plan.phases.of_stage[stage] % 2);
    }
    each = own.size();
    all.insert(own.begin(), own.end());
  }
  EXPECT_EQ(each, plan.stages.size());
  EXPECT_EQ(all.size(), 3 * each);
}

}  // namespace
}  // namespace penstock::graph
