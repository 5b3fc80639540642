#include "graph/compile/ipu_memory_refusal.hpp"

#include <gtest/gtest.h>

#include "tests/graph/passes/memory/two_stages.hpp"

namespace penstock::graph {
namespace {

const Remedy this_one{
    .text = "this", .turned_on = {Option::recompute}, .consequence = "which is enough"};
const Remedy that_one{.text = "that"};

TEST(IpuMemoryRefusal, SaysWhatAStageNeedsAndWhatWouldMakeItFit) {
  const std::string needs =
      "stage 0 on IPU 0 needs 5.5 kB (2.0 kB for weights and gradients, 3.0 kB for micro-batches "
      "in "
      "flight, 500 B for scratch), an IPU has 4.0 kB; what would help: ";
  EXPECT_EQ(refusal_of(two_stages(), 1, {.bytes = 4000}, {}).what(), needs + "smaller stages");
  EXPECT_EQ(refusal_of(two_stages(), 1, {.bytes = 4000}, {this_one, that_one}).what(),
            needs + "this, which is enough; or that; or smaller stages");
}

TEST(IpuMemoryRefusal, CountsTheOptimizersState) {
  const MemoryBudget budget{.bytes = 7499, .state = [](const std::string& name) {
                              return KeptState{name == "w0" ? 2 : 0, true};
                            }};
  EXPECT_FALSE(fits(two_stages(), 1, budget));
  const std::string text = refusal_of(two_stages(), 1, budget, {}).what();
  EXPECT_NE(text.find("stage 0 on IPU 0 needs 7.5 kB (2.0 kB for weights and gradients, 2.0 kB for "
                      "the optimizer's state, "),
            text.npos)
      << text;
}

TEST(IpuMemoryRefusal, NamesAllStagesOfTheIpu) {
  Plan plan = two_stages();
  plan.stages[1].ipu = 0;
  const std::string text = refusal_of(plan, 1, {.bytes = 8499}, {this_one}).what();
  EXPECT_NE(text.find("stages 0 and 1 on IPU 0 need 8.5 kB"), text.npos) << text;
  EXPECT_NE(text.find("this, which is enough; or fewer stages on the IPU"), text.npos) << text;
}

TEST(IpuMemoryRefusal, NamesOptionsAsWhoeverAskedSpellsThem) {
  const IpuMemoryRefusal unnamed = refusal_of(two_stages(), 1, {.bytes = 4000}, {this_one});
  const IpuMemoryRefusal named(unnamed.advice(), [](Option option) -> std::string_view {
    return option == Option::ipu_memory ? "memory" : "again";
  });
  EXPECT_EQ(named.code(), Errc::out_of_memory);
  const std::string text = named.what();
  EXPECT_TRUE(text.starts_with("memory: stage 0 on IPU 0 needs ")) << text;
  EXPECT_TRUE(text.ends_with("help: this (again), which is enough; or smaller stages")) << text;
}

TEST(IpuMemoryRefusal, IsOfTheFirstIpuThatHasLess) {
  Plan plan = two_stages();
  plan.stages[0].stash_bytes = 0;
  const std::string text = refusal_of(plan, 1, {.bytes = 3000}, {}).what();
  EXPECT_NE(text.find("stage 1 on IPU 1 needs 3.5 kB"), text.npos) << text;
}

}  // namespace
}  // namespace penstock::graph
