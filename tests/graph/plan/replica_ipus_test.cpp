#include "graph/plan/replica_ipus.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "graph/compile/compile.hpp"
#include "tests/support/random_network.hpp"

namespace penstock::graph {
namespace {

using Ipus = std::vector<std::int32_t>;

TEST(ReplicaIpus, A13_AreShiftedByTheNumberOfStages) {
  EXPECT_EQ(replica_shift(Ipus{0, 1, 2}, 4, false), 3);
  EXPECT_EQ(replica_shift(Ipus{7, 7}, 2, false), 2);
  EXPECT_EQ(replica_shift(Ipus{0, 3}, 3, false), 2) << "3 is no multiple of 2";
  EXPECT_EQ(replica_shift(Ipus{0, 4}, 2, false), 2) << "4 is a third replica's";
  EXPECT_EQ(replica_shift(Ipus{65535, 0}, 2, false), 2);
}

TEST(ReplicaIpus, A13_AreShiftedFurtherWhereReplicasWouldMeet) {
  EXPECT_EQ(replica_shift(Ipus{0, 2}, 1, false), 2) << "there is nobody to meet";
  EXPECT_EQ(replica_shift(Ipus{0, 2}, 2, false), 3);
  EXPECT_EQ(replica_shift(Ipus{0, 4}, 3, false), 3);
  EXPECT_EQ(replica_shift(Ipus{4, 0}, 3, false), 3);
  EXPECT_EQ(replica_shift(Ipus{0, 2, 3}, 2, false), 4) << "0, 2, 3 and 3, 5, 6 would meet";
}

/// Returns the numbers of all replicas' IPUs.
std::set<std::int64_t> ipus_of_all(const Ipus& of_one, std::int64_t replicas, bool phases) {
  const std::int64_t shift = replica_shift(of_one, replicas, phases);
  std::set<std::int64_t> all;
  for (std::int64_t replica = 0; replica < replicas; ++replica)
    for (const std::int32_t ipu : of_one) all.insert(ipu + replica * shift);
  return all;
}

// The test takes every placement of two and three stages on IPUs 0 to 6, and of four stages if the
// first and the last one share an IPU.
TEST(ReplicaIpus, A13_AreSharedByNoTwoReplicasWhereverTheStagesAre) {
  for (std::int32_t a = 0; a < 7; ++a)
    for (std::int32_t b = 0; b < 7; ++b)
      for (std::int32_t c = 0; c < 7; ++c)
        for (const Ipus& ipus : {Ipus{a, b}, Ipus{a, b, c}, Ipus{a, b, c, a}})
          for (const std::int64_t replicas : {1, 2, 3, 5})
            for (const bool phases : {false, true}) {
              const auto all = ipus_of_all(ipus, replicas, phases);
              ASSERT_EQ(std::ssize(all), used_ipus(ipus, replicas))
                  << a << b << c << ", " << ipus.size() << " stages, " << replicas << " replicas";
              ASSERT_GE(replica_shift(ipus, replicas, false), std::ssize(ipus));
            }
}

TEST(ReplicaIpus, A13_AreCountedWithoutThoseThatStagesShare) {
  EXPECT_EQ(used_ipus(Ipus{0, 1, 1, 0}, 2), 4);
  EXPECT_EQ(used_ipus(Ipus{0, 3}, 3), 6);
  EXPECT_EQ(used_ipus(Ipus{0, 2}, 2), 4);
}

TEST(ReplicaIpus, A13_OfParallelPhasesAreApartAndKeepTheirParity) {
  EXPECT_EQ(replica_shift(Ipus{0, 1, 3, 5, 0}, 2, true), 6);
  EXPECT_EQ(replica_shift(Ipus{0, 1, 0}, 2, true), 2);
  EXPECT_EQ(replica_shift(Ipus{0}, 2, true), 2);
  EXPECT_EQ(replica_shift(Ipus{65001, 65000}, 2, true), 2);
  EXPECT_EQ(used_ipus(Ipus{0, 1, 3, 5, 0}, 2), 8);
}

TEST(ReplicaIpus, A13_OfAPlanOfParallelPhasesAreSharedByNoTwoReplicas) {
  const CompileRequest request{.training = true,
                               .phased = PhaseRequest{.parallel = true, .stages = {1, 3}}};
  const Plan plan = compile(testing::random_network(1).graph(), request).plan;
  const ReplicaIpus ipus(plan, 3);
  std::set<std::int64_t> all;
  std::size_t each = 0;
  for (std::int64_t replica = 0; replica < 3; ++replica) {
    std::set<std::int64_t> own;
    for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
      own.insert(ipus.of(replica, stage));
      EXPECT_EQ(ipus.of(replica, stage) % 2, plan.phases.of_stage[stage] % 2);
    }
    each = own.size();
    all.insert(own.begin(), own.end());
  }
  EXPECT_EQ(each, plan.stages.size());
  EXPECT_EQ(all.size(), 3 * each);
}

}  // namespace
}  // namespace penstock::graph
