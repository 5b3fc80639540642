#include "graph/codec/plan_codec.hpp"

#include <gtest/gtest.h>

#include "graph/plan/dump.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "penstock/error.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/plan_runner.hpp"
#include "tests/support/random_network.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

/// Compiles a random network in two stages, with options that are not the defaults.
Compiled compiled(std::uint64_t seed, bool training) {
  const Graph model = testing::random_network(seed).graph();
  CompileRequest request{.training = training,
                         .batch = 3,
                         .stages = {{{"B0", "B1"}}, {{"B2", "B3"}}},
                         .schedule = &interleaved,
                         .gradient_accumulation = 2,
                         .threads_per_ipu = 2,
                         .offload = {.accumulators = {.on = training},
                                     .activations = {.on = training},
                                     .weights = {.on = true}}};
  request.recompute.on = training;
  request.anchors = {{model.value(model.outputs[0].value).name, false}};
  return compile(model, request);
}

TEST(PlanCodec, GivesBackWhatItWasGiven) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const bool training : {false, true}) {
      const Compiled given = compiled(seed, training);
      const std::string bytes = encode(given);
      const Compiled read = decode(bytes);
      EXPECT_EQ(encode(read), bytes);
      EXPECT_EQ(dump(read.plan), dump(given.plan));
    }
}

TEST(PlanCodec, GivesBackWhatIsPreparedOfWeights) {
  testing::ModelBuilder model;
  const auto x = model.input("x", {16, 6, 6});
  model.output("y", model.apply("conv2d", {x, model.parameter("w", {16, 16, 3, 3})},
                                {{"padding", 1}}, "conv"));
  const Compiled given = compile(model.graph(), {.batch = 2});
  ASSERT_EQ(given.plan.stages[0].prepare.instructions.size(), 1U);
  const Plan read = decode(encode(given)).plan;
  EXPECT_EQ(read.stages[0].prepared_bytes, given.plan.stages[0].prepared_bytes);
  EXPECT_EQ(dump(read), dump(given.plan));
}

TEST(PlanCodec, GivesBackTheRangesOfInputs) {
  testing::ModelBuilder model;
  const auto ids = model.input("ids", {3}, DType::i64),
             labels = model.input("labels", {3}, DType::i64);
  const auto x = model.apply("embedding", {model.parameter("table", {7, 5}), ids}, {}, "rows");
  const auto scores =
      model.apply("transpose", {x}, {{"axes", std::vector<std::int64_t>{0, 2, 1}}}, "scores");
  model.loss(
      model.apply("cross_entropy", {scores, labels}, {{"ignore_index", std::int64_t{9}}}, "loss"));
  const Compiled given = compile(model.graph(), {.training = true});
  ASSERT_EQ(given.plan.input_ranges,
            (std::vector<InputRange>{{.input = 0, .end = 7, .other = {}, .element = "id"},
                                     {.input = 1, .end = 5, .other = 9, .element = "label"}}));
  EXPECT_EQ(decode(encode(given)).plan.input_ranges, given.plan.input_ranges);
}

TEST(PlanCodec, GivesBackPhases) {
  const CompileRequest request{
      .training = true, .phased = PhaseRequest{.parallel = true, .stages = {1, 3}, .turn = 5}};
  const Plan given = compile(testing::random_network(1).graph(), request).plan;
  Compiled compiled{.plan = given, .report = {}};
  const Plan read = decode(encode(compiled)).plan;
  EXPECT_EQ(read.phases.of_stage, given.phases.of_stage);
  EXPECT_EQ(read.phases.numbers, given.phases.numbers);
  EXPECT_EQ(read.phases.turn, 5);
  EXPECT_TRUE(read.phases.parallel);
}

TEST(PlanCodec, GivesBackAPlanThatRunsToTheSameBits) {
  const Plan given = compiled(7, true).plan;
  const Plan read = decode(encode(compiled(7, true))).plan;
  const auto inputs = testing::random_inputs(given, 2);
  const auto expected = testing::window_results(given, inputs);
  const auto actual = testing::window_results(read, inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_TRUE(testing::same_bits(actual[i], expected[i])) << "result " << i;
}

/// Returns whether decode() refuses `bytes` by an Error. Other bytes are decoded without harm.
bool refused(std::string_view bytes) try {
  decode(bytes);
  return false;
} catch (const Error&) {
  return true;
}

TEST(PlanCodec, RefusesWhatIsCutShortOrTooLong) {
  const std::string bytes = encode(compiled(1, true));
  for (std::size_t size = 0; size < bytes.size(); size += 5)
    EXPECT_TRUE(refused(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_TRUE(refused(bytes + '\0'));
}

TEST(PlanCodec, SurvivesWhateverIsWrittenOverIt) {
  const std::string bytes = encode(compiled(2, true));
  std::size_t refusals = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 11)
    for (const char change : {'\x01', '\x80', '\xff'}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      refusals += refused(damaged);
    }
  EXPECT_GT(refusals, bytes.size() / 50);
}

}  // namespace
}  // namespace penstock::graph
