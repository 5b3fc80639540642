#include "graph/codec/compile_key.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

#include "graph/plan/schedules/schedules.hpp"
#include "tests/support/random_network.hpp"

namespace penstock::graph {
namespace {

Graph model() {
  return testing::random_network(3).graph();
}

CompileRequest training() {
  CompileRequest request{.training = true, .batch = 4};
  request.memory.state = [](const std::string&) { return KeptState{.tensors = 2}; };
  return request;
}

// If a field is added to the request, compile_key.cpp does not compile until the key has the field.
TEST(CompileKey, ChangesWithEverythingThatIsAskedFor) {
  const std::vector<std::function<void(CompileRequest&)>> changes{
      [](auto& r) { r.training = false; },
      [](auto& r) { r.batch = 5; },
      [](auto& r) {
        r.stages = {{{"B0", "B1"}}, {{"B2", "B3"}}};
      },
      [](auto& r) {
        r.stages = {{{"B0", "B1"}, 1}, {{"B2", "B3"}}};
      },
      [](auto& r) { r.options.topology.stage_rule = StageRule::auto_increment; },
      [](auto& r) {
        r.options.topology.ipus = {0, 1, 2, 3};
      },
      [](auto& r) { r.options.topology.automatic_stages = 2; },
      [](auto& r) { r.measure = [](const Plan&) { return InstructionTimes{}; }; },
      [](auto& r) { r.schedule = &interleaved; },
      [](auto& r) { r.phased.emplace(); },
      [](auto& r) { r.phased = {.parallel = true}; },
      [](auto& r) {
        r.phased = {.stages = {2, 2}};
      },
      [](auto& r) { r.phased = {.liveness = PhaseLiveness::off_ipu_after_forward}; },
      [](auto& r) { r.phased = {.separate_backward = true}; },
      [](auto& r) { r.phased = {.turn = 2}; },
      [](auto& r) { r.gradient_accumulation = 2; },
      [](auto& r) { r.threads = 3; },
      [](auto& r) { r.gradient_sum = GradientSum::running_mean; },
      [](auto& r) { r.replicas = 2; },
      [](auto& r) { r.threads_per_ipu = 2; },
      [](auto& r) { r.cores = 2; },
      [](auto& r) { r.memory.bytes = 1 << 20; },
      [](auto& r) { r.memory.state = {}; },
      [](auto& r) { r.memory.state = [](const auto&) { return KeptState{.tensors = 1}; }; },
      [](auto& r) { r.memory.offload_state.on = true; },
      [](auto& r) { r.memory.offload_state.minimum_bytes = 64; },
      [](auto& r) { r.memory.shard_state.on = true; },
      [](auto& r) { r.memory.shard_state.minimum_elements = 100; },
      [](auto& r) { r.memory.replicas = 2; },
      [](auto& r) { r.offload.accumulators.on = true; },
      [](auto& r) { r.offload.accumulators.minimum_bytes = 64; },
      [](auto& r) { r.offload.activations.on = true; },
      [](auto& r) { r.offload.activations.minimum_bytes = 64; },
      [](auto& r) { r.offload.weights.on = true; },
      [](auto& r) { r.offload.weights.minimum_bytes = 64; },
      [](auto& r) { r.recompute.on = true; },
      [](auto& r) { r.recompute.stages = {0}; },
      [](auto& r) {
        r.anchors = {{"out", false}};
      },
      [](auto& r) {
        r.anchors = {{"out", true}};
      },
      [](auto& r) { r.in_place = false; },
      [](auto& r) { r.prepare = false; },
  };
  std::set<std::string> keys{compile_key(model(), training())};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    CompileRequest request = training();
    changes[i](request);
    EXPECT_TRUE(keys.insert(compile_key(model(), request)).second) << "change " << i;
  }
}

TEST(CompileKey, ChangesWithTheModelAndIsTheSameForTheSame) {
  std::set<std::string> keys;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Graph network = testing::random_network(seed).graph();
    EXPECT_TRUE(keys.insert(compile_key(network, training())).second) << seed;
    EXPECT_FALSE(keys.insert(compile_key(network, training())).second) << seed;
  }
  Graph named = model();
  named.nodes[0].name += "x";
  EXPECT_TRUE(keys.insert(compile_key(named, training())).second);
  Graph placed = model();
  placed.blocks[0].ipu = 7;
  EXPECT_TRUE(keys.insert(compile_key(placed, training())).second);
}

}  // namespace
}  // namespace penstock::graph
