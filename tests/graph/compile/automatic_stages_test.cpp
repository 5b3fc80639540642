#include "graph/compile/automatic_stages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "graph/compile/compile.hpp"
#include "graph/compile/ipu_memory_refusal.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/plan_runner.hpp"
#include "tests/support/random_network.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::refusal;

CompileRequest training(std::int32_t automatic_stages) {
  return {.training = true,
          .batch = 3,
          .options = {.topology = {.automatic_stages = automatic_stages}},
          .gradient_accumulation = 16};
}

/// Returns a chain of six layers in two blocks, and the loss behind the chain.
ModelBuilder chain() {
  ModelBuilder model;
  auto x = model.input("x", {4});
  const auto target = model.input("target", {4});
  for (int layer = 0; layer < 6; ++layer)
    x = model.block(layer < 3 ? "A" : "B").linear("fc" + std::to_string(layer), x, 4);
  model.output("y", x);
  model.loss(model.apply("mse_loss", {x, target}, {}, "loss"));
  return model;
}

/// Returns a clock that says how long each layer takes. A layer's weight gradient takes twice as
/// long as the layer itself.
MeasureInstructions clock_of(std::map<std::string, double> seconds) {
  return [=](const Plan& plan) {
    EXPECT_EQ(plan.stages.size(), 1U);
    InstructionTimes times;
    for (const Instruction& instruction : plan.stages[0].forward.instructions)
      times.forward.push_back(seconds.at(instruction.name));
    for (const Instruction& instruction : plan.stages[0].backward.instructions) {
      const std::string layer = instruction.name.substr(0, instruction.name.find('/'));
      const bool counts = instruction.name.ends_with("/linear_weight_gradient");
      times.backward.push_back(counts ? 2 * seconds.at(layer) : 0);
    }
    return times;
  };
}

std::map<std::string, double> even() {
  std::map<std::string, double> seconds{{"loss", 0.0}};
  for (int layer = 0; layer < 6; ++layer) seconds["fc" + std::to_string(layer)] = 1;
  return seconds;
}

std::vector<std::string> first_layers(const CompileReport& report) {
  std::vector<std::string> names;
  for (const StagePlanReport& stage : report.stages) names.push_back(stage.first_layer);
  return names;
}

using Names = std::vector<std::string>;

// The compiler cuts stages so that their measured times balance (docs/reference.md, H5).
TEST(AutomaticStages, BalanceTheTimesThatWereMeasured) {
  CompileRequest request = training(3);
  auto seconds = even();
  seconds["fc5"] = 4;
  request.measure = clock_of(seconds);
  const Compiled compiled = compile(chain().graph(), request);
  EXPECT_TRUE(compiled.report.automatic_stages);
  EXPECT_EQ(first_layers(compiled.report), (Names{"fc0", "fc3", "fc5"}));
  EXPECT_EQ(compiled.report.stages[0].forward_seconds, 3);
  EXPECT_EQ(compiled.report.stages[1].forward_seconds, 2);
  EXPECT_EQ(compiled.report.stages[2].forward_seconds, 4);
  EXPECT_EQ(compiled.report.stages[2].backward_seconds, 8);
  EXPECT_DOUBLE_EQ(compiled.report.stages[2].share, 4 / 9.0);
}

TEST(AutomaticStages, CountWhatIsRecomputed) {
  CompileRequest request = training(2);
  auto seconds = even();
  seconds["fc2"] = 2;
  request.measure = clock_of(seconds);
  EXPECT_EQ(first_layers(compile(chain().graph(), request).report), (Names{"fc0", "fc3"}))
      << "12 and 9 seconds are better than 6 and 15";
  request.recompute.on = true;
  const CompileReport report = compile(chain().graph(), request).report;
  EXPECT_EQ(first_layers(report), (Names{"fc0", "fc2"})) << "16 and 9 are worse than 8 and 15";
  EXPECT_EQ(report.stages[0].forward_seconds, 2);
  EXPECT_EQ(report.stages[0].backward_seconds, 4 + 1) << "fc0 again; fc1's result is kept";
  EXPECT_EQ(report.stages[1].backward_seconds, 10);
}

TEST(AutomaticStages, GoByFlopsAndBytesWithoutAClock) {
  const Compiled compiled = compile(chain().graph(), training(2));
  EXPECT_EQ(first_layers(compiled.report), (Names{"fc0", "fc3"}));
  EXPECT_EQ(compiled.report.stages[0].blocks, (Names{"A"}));
  EXPECT_EQ(compiled.report.stages[0].forward_seconds, 0);
}

TEST(AutomaticStages, AreWhereTheIpusSay) {
  CompileRequest request = training(2);
  request.options.topology.ipus = {5, 3};
  const Plan plan = compile(chain().graph(), request).plan;
  EXPECT_EQ(plan.stages[0].ipu, 5);
  EXPECT_EQ(plan.stages[1].ipu, 3);
  request.options.topology.ipus = {5};
  EXPECT_EQ(refusal(Errc::invalid_topology, [&] { compile(chain().graph(), request); }),
            "options.topology.ipus: expected one IPU per stage, 2 (automatic), got 1");
}

TEST(AutomaticStages, AreRefusedIfTheModelHasNotSoManyAtoms) {
  EXPECT_EQ(compile(chain().graph(), training(7)).plan.stages.size(), 7U);
  EXPECT_EQ(refusal(Errc::invalid_topology, [] { compile(chain().graph(), training(8)); }),
            "the model cannot be cut into 8 stages: at most 7 are possible; ask for fewer");
}

TEST(AutomaticStages, AreFewerInInferenceIfThereAreFewerLayers) {
  CompileRequest request = training(7);
  request.training = false;
  request.gradient_accumulation = 6;
  const Compiled compiled = compile(chain().graph(), request);
  EXPECT_EQ(compiled.plan.stages.size(), 6U);
  EXPECT_EQ(compiled.notes,
            (std::vector<Note>{{.text = "in inference the model can have at most 6 stages; 1 of 7 "
                                        "have nothing to compute and are left out"}}));
}

/// Returns the bytes that the fullest stage needs.
std::int64_t most_bytes(const Plan& plan) {
  std::int64_t most = 0;
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage)
    most = std::max(most, stage_bytes(plan, stage));
  return most;
}

/// Expects that the compiler cuts the model into `stages` stages which need no more than `bytes`
/// each. Returns "accepted", or why there is no such cut.
std::string automatic_within(const ModelBuilder& model, std::int32_t stages, std::int64_t bytes,
                             bool recompute = false) {
  CompileRequest request = training(stages);
  request.recompute.on = recompute;
  request.memory.bytes = bytes;
  return refusal(Errc::out_of_memory,
                 [&] { EXPECT_LE(most_bytes(compile(model.graph(), request).plan), bytes); });
}

/// Returns a chain of six layers. The first three have many more weights than the others.
ModelBuilder top_heavy() {
  ModelBuilder model;
  auto x = model.input("x", {32});
  for (int layer = 0; layer < 6; ++layer)
    x = model.linear("fc" + std::to_string(layer), x, layer < 3 ? 32 : 4);
  model.output("y", x);
  model.loss(model.apply("mse_loss", {x, model.input("target", {4})}, {}, "loss"));
  return model;
}

TEST(AutomaticStages, KeepToTheMemoryOfTheirIpus) {
  const ModelBuilder model = top_heavy();
  CompileRequest request = training(3);
  request.measure = clock_of(even());
  const Plan free = compile(model.graph(), request).plan;
  request.memory.bytes = most_bytes(free);
  EXPECT_EQ(most_bytes(compile(model.graph(), request).plan), most_bytes(free));
  request.memory.bytes = most_bytes(free) - 1;
  const Plan tight = compile(model.graph(), request).plan;
  EXPECT_LT(most_bytes(tight), most_bytes(free));
  EXPECT_EQ(tight.stages.size(), 3U);
}

TEST(AutomaticStages, AreRefusedIfNoCutKeepsToTheMemoryAndSayWhatWould) {
  const std::string text = automatic_within(top_heavy(), 3, 5000);
  const std::string before = "no cut into 3 stages keeps to 5.0 kB per IPU; ";
  const std::string after =
      " kB would do; what would help: more stages; or smaller micro-batches; or a schedule with "
      "fewer of them in flight";
  ASSERT_TRUE(text.starts_with(before) && text.ends_with(after)) << text;
  const auto enough = static_cast<std::int64_t>(1000 * std::stod(text.substr(before.size())));
  EXPECT_EQ(automatic_within(top_heavy(), 3, enough + 51), "accepted");
  EXPECT_NE(automatic_within(top_heavy(), 3, enough * 97 / 100), "accepted");
}

/// Returns two products with many activations between them.
ModelBuilder deep() {
  ModelBuilder model;
  auto x = model.linear("fc0", model.input("x", {8}), 8);
  for (int layer = 0; layer < 14; ++layer) x = model.apply("tanh", {x});
  x = model.linear("fc1", x, 8);
  model.loss(model.apply("mse_loss", {x, model.input("target", {8})}, {}, "loss"));
  return model;
}

TEST(AutomaticStages, NeedLessMemoryIfTheyRecomputeWhichARefusalSays) {
  const ModelBuilder model = deep();
  const std::int64_t whole = most_bytes(compile(model.graph(), training(1)).plan);
  int helped = 0, hopeless = 0;
  for (std::int64_t percent = 20; percent < 100; percent += 8) {
    const std::int64_t bytes = whole * percent / 100;
    const std::string text = automatic_within(model, 3, bytes);
    const bool fits = automatic_within(model, 3, bytes, true) == "accepted";
    EXPECT_TRUE(fits || text != "accepted") << "recomputed it needs more than " << bytes;
    if (text == "accepted") continue;
    EXPECT_EQ(text.find(" recomputation; or more stages; or ") != text.npos, fits) << text;
    ++(fits ? helped : hopeless);
  }
  EXPECT_GT(helped, 0);
  EXPECT_GT(hopeless, 0);
}

/// Returns the options of which each would be enough by itself, as the refusal of `request` says.
std::set<Option> advised_of(const ModelBuilder& model, const CompileRequest& request) {
  std::set<Option> advised;
  try {
    compile(model.graph(), request);
  } catch (const IpuMemoryRefusal& refusal) {
    for (const Remedy& remedy : refusal.advice().remedies)
      if (remedy.turned_on.size() == 1) advised.insert(remedy.turned_on[0]);
  }
  return advised;
}

TEST(AutomaticStages, NameTheClassesOfTensorsThatWouldHelpInTheHostStore) {
  const ModelBuilder model = deep();
  CompileRequest request = training(3);
  request.memory.bytes = 3500;
  const std::set<Option> advised = advised_of(model, request);
  int named = 0;
  for (const auto& [option, offload] :
       {std::pair{Option::offload_accumulators, &OffloadOptions::accumulators},
        std::pair{Option::offload_activations, &OffloadOptions::activations},
        std::pair{Option::offload_weights, &OffloadOptions::weights}}) {
    CompileRequest other = request;
    (other.offload.*offload).on = true;
    const bool helps =
        refusal(Errc::out_of_memory, [&] { compile(model.graph(), other); }) == "accepted";
    EXPECT_EQ(advised.contains(option), helps) << static_cast<int>(option);
    named += advised.contains(option) ? 1 : 0;
  }
  EXPECT_GT(named, 0);
  EXPECT_LT(named, 3);
}

TEST(AutomaticStages, NeverNeedMoreThanWasWorkedOutForThem) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const ModelBuilder model = testing::random_network(seed);
    const std::int64_t whole = most_bytes(compile(model.graph(), training(1)).plan);
    for (const std::int64_t share : {3, 4, 5, 6, 7, 8}) {
      const std::string text = automatic_within(model, 3, whole * share / 8);
      if (text == "accepted") continue;
      EXPECT_NE(text.find("no cut into 3 stages keeps to "), text.npos) << text;
      ++refused;
    }
  }
  EXPECT_GT(refused, 5);
  EXPECT_LT(refused, 100);
}

/// Returns a chain of six layers. The first and the last one share their weight.
ModelBuilder tied() {
  ModelBuilder model;
  const auto shared = model.parameter("shared", {4, 4});
  auto x = model.apply("linear", {model.input("x", {4}), shared}, {}, "fc0");
  for (int layer = 1; layer < 5; ++layer) x = model.linear("fc" + std::to_string(layer), x, 4);
  x = model.apply("linear", {x, shared}, {}, "fc5");
  model.output("y", x);
  model.loss(model.apply("mse_loss", {x, model.input("target", {4})}, {}, "loss"));
  return model;
}

TEST(AutomaticStages, BalanceAModelWhoseEndsShareAWeight) {
  CompileRequest request = training(2);
  request.measure = clock_of(even());
  const Compiled compiled = compile(tied().graph(), request);
  EXPECT_EQ(first_layers(compiled.report), (Names{"fc0", "fc3"}));
  for (const StagePlanReport& stage : compiled.report.stages) EXPECT_DOUBLE_EQ(stage.share, 0.5);
  ASSERT_EQ(compiled.plan.stages[1].variables[0].owner, 0) << "a copy of the first stage's";
  const Plan whole = compile(tied().graph(), training(1)).plan;
  const auto inputs = testing::random_inputs(whole, 3);
  EXPECT_TRUE(std::ranges::equal(testing::window_results(compiled.plan, inputs),
                                 testing::window_results(whole, inputs), testing::same_bits));
}

TEST(AutomaticStages, ComputeTheBitsOfOneStageWhereverTheyAreCut) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const ModelBuilder model = testing::random_network(seed);
    const Plan whole = compile(model.graph(), training(1)).plan;
    const auto inputs = testing::random_inputs(whole, 3);
    const auto expected = testing::window_results(whole, inputs);
    for (const std::int32_t stages : {2, 3, 5}) {
      SCOPED_TRACE("network " + std::to_string(seed) + ", stages " + std::to_string(stages));
      const Plan plan = compile(model.graph(), training(stages)).plan;
      EXPECT_EQ(plan.stages.size(), static_cast<std::size_t>(stages));
      EXPECT_TRUE(
          std::ranges::equal(testing::window_results(plan, inputs), expected, testing::same_bits));
    }
  }
}

}  // namespace
}  // namespace penstock::graph
