// These tests check that cuts, schedules and other choices of the compiler change no bit of what a
// plan computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "graph/compile/compile.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "tests/graph/compile/networks_to_compile.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/plan_runner.hpp"
#include "tests/support/random_network.hpp"
#include "tests/support/random_tensor.hpp"

namespace penstock::graph {
namespace {

using testing::convolutional_network;
using testing::cuts;
using testing::expect_same;
using testing::finite;
using testing::Inputs;
using testing::ModelBuilder;
using testing::random_inputs;
using testing::training;
using testing::uniform;
using testing::window_results;

TEST(Compile, GivesTheSameBitsWhereverTheModelIsCut) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("network " + std::to_string(seed));
    const ModelBuilder model = testing::random_network(seed);
    const auto whole = compile(model.graph(), training({{{"B0", "B1", "B2", "B3"}}})).plan;
    const Inputs inputs = random_inputs(whole, 3);
    const auto expected = window_results(whole, inputs);
    EXPECT_TRUE(std::ranges::all_of(expected, finite));
    for (const auto& cut : cuts) {
      SCOPED_TRACE(std::to_string(cut.size()) + " stages");
      expect_same(window_results(compile(model.graph(), training(cut)).plan, inputs), expected);
    }
  }
}

std::ptrdiff_t overwriting(const Plan& plan) {
  const auto overwrites = [](const Instruction& instruction) {
    return std::ranges::find_first_of(instruction.inputs, instruction.outputs) !=
           instruction.inputs.end();
  };
  std::ptrdiff_t count = 0;
  for (const StagePlan& stage : plan.stages)
    for (const Program* program : {&stage.forward, &stage.backward})
      count += std::ranges::count_if(program->instructions, overwrites);
  return count;
}

TEST(Compile, GivesTheSameBitsInPlaceOrNot) {
  std::ptrdiff_t saved = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("network " + std::to_string(seed));
    const ModelBuilder model = testing::random_network(seed);
    CompileRequest request = training(cuts[0]);
    const Plan in_place = compile(model.graph(), request).plan;
    request.in_place = false;
    const Plan apart = compile(model.graph(), request).plan;
    const Inputs inputs = random_inputs(apart, 2);
    expect_same(window_results(in_place, inputs), window_results(apart, inputs));
    saved += overwriting(in_place) - overwriting(apart);
  }
  EXPECT_GT(saved, 0) << "instructions that write over what they read";
}

TEST(Compile, GivesTheSameBitsUnderEverySchedule) {
  const ModelBuilder model = testing::random_network(4);
  CompileRequest request = training(cuts[3]);
  const Plan grouped = compile(model.graph(), request).plan;
  const Inputs inputs = random_inputs(grouped, 2);
  for (const Schedule* schedule : {&interleaved, &sequential}) {
    request.schedule = schedule;
    expect_same(window_results(compile(model.graph(), request).plan, inputs),
                window_results(grouped, inputs));
  }
}

TEST(Compile, GivesTheSameBitsWhereverAConvolutionalNetworkIsCut) {
  const Graph model = convolutional_network().graph();
  const Plan whole = compile(model, training({{{"B0", "B1", "B2", "B3"}}})).plan;
  Inputs inputs;
  for (std::uint64_t seed : {1, 2})
    inputs.push_back({uniform({3, 1, 8, 8}, seed), testing::labels({3, 1, 1}, seed, 5)});
  const auto expected = window_results(whole, inputs);
  EXPECT_TRUE(std::ranges::all_of(expected, finite));
  for (const auto& cut : cuts)
    expect_same(window_results(compile(model, training(cut)).plan, inputs), expected);
}

}  // namespace
}  // namespace penstock::graph
