// These tests check what programs move between an IPU and the host store.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "graph/compile/compile.hpp"
#include "tests/graph/compile/networks_to_compile.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/plan_runner.hpp"
#include "tests/support/random_network.hpp"

namespace penstock::graph {
namespace {

using testing::cuts;
using testing::expect_same;
using testing::Inputs;
using testing::ModelBuilder;
using testing::random_inputs;
using testing::small_network;
using testing::training;
using testing::window_results;

std::int64_t transfers(const Program& program, Transfer kind) {
  return std::ranges::count(program.instructions, kind, &Instruction::transfer);
}

constexpr Offload on{.on = true};
constexpr OffloadOptions activations_and_weights{.activations = on, .weights = on};

// 4.3 of docs/reference.md: activations and weights in the host store change no bit.
TEST(Compile, GivesTheSameBitsWithActivationsAndWeightsInTheHostStoreOrNot) {
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    for (const auto& cut : cuts)
      for (const bool recomputed : {false, true}) {
        SCOPED_TRACE("network " + std::to_string(seed) + ", " + std::to_string(cut.size()) +
                     " stages");
        const ModelBuilder model = testing::random_network(seed);
        CompileRequest request = training(cut);
        request.recompute.on = recomputed;
        const Plan kept = compile(model.graph(), request).plan;
        request.offload = activations_and_weights;
        const Plan moved = compile(model.graph(), request).plan;
        const Inputs inputs = random_inputs(kept, 2);
        expect_same(window_results(moved, inputs), window_results(kept, inputs));
        std::int64_t loads = 0;
        for (std::size_t i = 0; i < kept.stages.size(); ++i) {
          const StagePlan &before = kept.stages[i], &after = moved.stages[i];
          EXPECT_EQ(micro_batch_bytes(after) + after.host_stash_bytes, micro_batch_bytes(before));
          EXPECT_EQ(after.parameter_bytes + after.host_parameter_bytes, before.parameter_bytes);
          loads += transfers(after.backward, Transfer::load);
        }
        EXPECT_GT(loads, 0);
      }
}

// 4.3 of docs/reference.md: `hidden` of stage A is stored once. B loads it for each of its
// programs, and A for the gradient of `hidden` itself. The loss in stage C is too small to be
// stored.
TEST(Compile, TransfersAnActivationForEachProgramThatReadsIt) {
  CompileRequest request = training();
  request.offload.activations = on;
  const Plan plan = compile(small_network().graph(), request).plan;
  const StagePlan &a = plan.stages[0], &b = plan.stages[1], &c = plan.stages[2];
  EXPECT_EQ(transfers(a.forward, Transfer::store), 1) << "hidden";
  EXPECT_EQ(transfers(a.backward, Transfer::load), 1) << "hidden, for relu";
  EXPECT_EQ(transfers(b.forward, Transfer::load), 1) << "hidden, which two layers read";
  EXPECT_EQ(transfers(b.forward, Transfer::store), 1) << "y";
  EXPECT_EQ(transfers(b.backward, Transfer::load), 1) << "hidden, for fc2.weight";
  EXPECT_EQ(transfers(c.forward, Transfer::load), 1) << "y";
  EXPECT_EQ(transfers(c.forward, Transfer::store), 0);
  EXPECT_EQ(transfers(c.backward, Transfer::load), 1) << "y";
  EXPECT_EQ(a.stash_bytes, 0);
  EXPECT_EQ(c.output_bytes, 64) << "the loss, of 4 bytes";
  EXPECT_EQ(plan.edges[static_cast<std::size_t>(b.forward_receives[0])].source.space,
            Space::host_stash);
}

TEST(Compile, KeepsNoActivationOfInferenceInTheHostStore) {
  CompileRequest request{.batch = 3, .offload = activations_and_weights};
  const Plan plan = compile(small_network().graph(), request).plan;
  EXPECT_FALSE(plan.stages.empty());
  for (const StagePlan& stage : plan.stages) {
    EXPECT_EQ(stage.host_stash_bytes, 0);
    EXPECT_EQ(stage.host_parameter_bytes > 0, !stage.variables.empty());
  }
}

}  // namespace
}  // namespace penstock::graph
