// These tests check which IPUs a training model reports for its replicas.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "penstock/training_model.hpp"
#include "tests/engine/small_models.hpp"

namespace penstock {
namespace {

/// Returns the IPUs of the stages of each replica, in the order of the stages.
std::map<int, std::vector<int>> ipus_of(const std::vector<int>& placement, int replicas) {
  Options options = testing::options_for(2, 2, 1);
  options.topology.stages = {{.blocks = {"B1"}}, {.blocks = {"B2"}}};
  options.topology.ipus = placement;
  options.topology.replication_factor = replicas;
  TrainingModel training(testing::plain_model(), options, Sgd{.learning_rate = 0.1});
  training.step(testing::samples(4 * replicas, false));
  std::map<int, std::vector<int>> ipus;
  for (const StageReport& stage : training.stage_reports())
    ipus[stage.replica].push_back(stage.ipu);
  return ipus;
}

using Placement = std::map<int, std::vector<int>>;

TEST(ReplicaPlacement, A13_GivesEveryReplicaIpusOfItsOwn) {
  EXPECT_EQ(ipus_of({0, 1}, 2), (Placement{{0, {0, 1}}, {1, {2, 3}}}));
  EXPECT_EQ(ipus_of({0, 2}, 2), (Placement{{0, {0, 2}}, {1, {3, 5}}}));
  EXPECT_EQ(ipus_of({4, 0}, 3), (Placement{{0, {4, 0}}, {1, {7, 3}}, {2, {10, 6}}}));
  EXPECT_EQ(ipus_of({1, 1}, 2), (Placement{{0, {1, 1}}, {1, {3, 3}}}));
}

}  // namespace
}  // namespace penstock
