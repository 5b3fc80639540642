#include "graph/compile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "graph/op.hpp"
#include "graph/schedules/interleaved.hpp"
#include "graph/schedules/sequential.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/op_call.hpp"
#include "tests/support/plan_runner.hpp"
#include "tests/support/random_network.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::PlanRunner;
using testing::random_inputs;
using testing::refusal;
using testing::same_bits;
using testing::uniform;
using testing::window_results;
using Inputs = std::vector<std::vector<Tensor>>;  ///< by micro-batch

/// A: fc1 and relu; B: fc2, with a skip from A; C: the loss, on fc2 and the target.
ModelBuilder small_network() {
  ModelBuilder model;
  const auto x = model.input("x", {5}), target = model.input("target", {4});
  const auto hidden = model.block("A").apply("relu", {model.linear("fc1", x, 4)}, {}, "hidden");
  const auto y = model.block("B").apply("add", {model.linear("fc2", hidden, 4), hidden}, {}, "y");
  model.output("y", y);
  model.loss(model.block("C").apply("mse_loss", {y, target}, {}, "mse"));
  return model;
}

CompileRequest training(std::vector<StageRequest> stages = {}) {
  return {.training = true, .batch = 3, .stages = std::move(stages)};
}

void expect_same(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_TRUE(same_bits(actual[i], expected[i])) << "result " << i;
}

bool finite(const Tensor& tensor) {
  return std::ranges::all_of(tensor.as<float>(), [](float x) { return std::isfinite(x); });
}

const std::vector<StageRequest> cuts[] = {
    {{{"B0", "B1"}}, {{"B2", "B3"}}},
    {{{"B0"}}, {{"B1", "B2", "B3"}}},
    {{{"B0"}}, {{"B1", "B2"}}, {{"B3"}}},
    {{{"B0"}}, {{"B1"}}, {{"B2"}}, {{"B3"}}},
};

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

std::int64_t transfers(const Program& program, Transfer kind) {
  return std::ranges::count(program.instructions, kind, &Instruction::transfer);
}

constexpr Offload on{.on = true};
constexpr OffloadOptions activations_and_weights{.activations = on, .weights = on};

// 4.3.
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
          EXPECT_EQ(after.stash_bytes + after.host_stash_bytes, before.stash_bytes);
          EXPECT_EQ(after.parameter_bytes + after.host_parameter_bytes, before.parameter_bytes);
          loads += transfers(after.backward, Transfer::load);
        }
        EXPECT_GT(loads, 0);
      }
}

// 4.3: A's `hidden` goes to B, and comes back for its own gradient; of C's loss there is too
// little.
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
  EXPECT_EQ(c.stash_bytes, 64) << "the loss, of 4 bytes";
  EXPECT_EQ(plan.edges[static_cast<std::size_t>(b.forward_receives[0])].source.space,
            Space::host_stash);
}

TEST(Compile, KeepsNoActivationOfInferenceInTheHostStore) {
  CompileRequest request{.batch = 3, .offload = activations_and_weights};
  const Plan plan = compile(small_network().graph(), request).plan;
  for (const StagePlan& stage : plan.stages) {
    EXPECT_EQ(stage.host_stash_bytes, 0);
    EXPECT_EQ(stage.host_parameter_bytes > 0, !stage.variables.empty());
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

/// Convolutions, pooling, dropout, batch norm with running statistics, and class labels, in four
/// blocks.
ModelBuilder convolutional_network() {
  ModelBuilder model;
  const auto x = model.input("x", {1, 8, 8}), labels = model.input("labels", {1, 1}, DType::i64);
  const auto c1 = model.block("B0").apply("conv2d", {x, model.parameter("c1", {3, 1, 3, 3})});
  const auto p1 = model.apply("relu", {model.apply("max_pool2d", {c1}, {{"kernel", 2}})});
  const auto dropped = model.apply("dropout", {p1}, {{"p", 0.3}});
  const auto norm = model.block("B1").apply(
      "batch_norm2d", {dropped, model.parameter("gamma", {3}), model.parameter("beta", {3}),
                       model.buffer("mean", {3}), model.buffer("variance", {3})});
  const auto c2 =
      model.block("B2").apply("conv2d", {norm, model.parameter("c2", {5, 3, 2, 2})}, {}, "c2");
  const auto pooled = model.apply("avg_pool2d", {c2}, {{"kernel", 2}});
  model.block("B3");
  model.output("pooled", pooled);
  model.loss(model.apply("cross_entropy", {model.apply("identity", {pooled}), labels},
                         {{"reduction", "mean"}}));
  return model;
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

/// (f(p + step) - f(p - step)) / 2 step, in the loss of one micro-batch.
double difference_quotient(PlanRunner& runner, const Inputs& inputs, const std::string& name,
                           std::size_t element, float step) {
  const Tensor before = runner.variable(name);
  const auto loss_at = [&](float shift) {
    std::vector<float> values(before.as<float>().begin(), before.as<float>().end());
    values[element] += shift;
    runner.set_variable(name, Tensor(before.shape(), std::span<const float>(values)));
    return static_cast<double>(runner.run(inputs)[0].back().item());
  };
  const double difference = loss_at(step) - loss_at(-step);
  runner.set_variable(name, before);
  return difference / (2 * static_cast<double>(step));
}

/// The sum over a parameter's uses.
std::vector<float> gradient_of(const PlanRunner& runner, const std::string& name) {
  std::vector<float> sum(static_cast<std::size_t>(runner.variable(name).elements()));
  for (const Tensor& use : runner.gradients(name))
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += use.as<float>()[i];
  return sum;
}

void expect_slope(PlanRunner& runner, const Inputs& inputs, const std::string& name) {
  runner.run(inputs);
  const auto gradient = gradient_of(runner, name);
  float largest = 1e-3f;
  for (const float g : gradient) largest = std::max(largest, std::abs(g));
  for (std::size_t i = 0; i < gradient.size(); ++i)
    EXPECT_NEAR(difference_quotient(runner, inputs, name, i, 1e-2f), gradient[i], 0.02 * largest)
        << name << "[" << i << "]";
}

TEST(Compile, ComputesTheSlopeOfTheLossForEveryParameter) {
  ModelBuilder model;
  const auto x = model.input("x", {3}), target = model.input("target", {3});
  const auto tied = model.parameter("tied", {3, 3});
  const auto h = model.block("A").apply("tanh", {model.linear("fc1", x, 3)});
  const auto a = model.block("B").apply("sigmoid", {model.apply("linear", {h, tied})});
  const auto b = model.apply("mul", {model.apply("linear", {a, tied}), h});
  const auto y = model.block("C").apply("add", {model.apply("add", {b, h}), x});
  model.loss(model.apply("mse_loss", {y, target}));
  PlanRunner runner(compile(model.graph(), training()).plan);
  const Inputs inputs = random_inputs(runner.plan(), 1);
  for (const char* name : {"tied", "fc1.weight", "fc1.bias"}) expect_slope(runner, inputs, name);
  EXPECT_EQ(runner.gradients("tied").size(), 2u) << "one sum per use";
}

TEST(Compile, AddsGradientsOverMicroBatches) {
  const Plan plan = compile(small_network().graph(), training()).plan;
  PlanRunner runner(plan);
  const Inputs inputs = random_inputs(plan, 3);
  std::vector<float> expected(4);
  for (const auto& batch : inputs) {
    runner.run({batch});
    const Tensor sum = runner.gradients("fc2.bias")[0];
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += sum.as<float>()[i];
  }
  runner.run(inputs);
  expect_same(runner.gradients("fc2.bias"), {Tensor({4}, std::span<const float>(expected))});
}

TEST(Compile, PutsTheLossLastAmongTheOutputs) {
  const Plan plan = compile(small_network().graph(), training()).plan;
  ASSERT_EQ(plan.outputs.size(), 2u);
  EXPECT_EQ(plan.outputs[0].name, "y");
  EXPECT_EQ(plan.outputs[1].type.shape, Shape{});
  EXPECT_EQ(plan.loss, 1);
}

// F2: the loss and its labels are in no stage of inference.
TEST(Compile, LeavesOutOfInferenceWhatOnlyTheLossNeeds) {
  const auto compiled = compile(small_network().graph(), {.batch = 2, .gradient_accumulation = 2});
  const Plan& plan = compiled.plan;
  ASSERT_EQ(plan.inputs.size(), 1u);
  EXPECT_EQ(plan.inputs[0].name, "x");
  EXPECT_EQ(plan.outputs.size(), 1u);
  EXPECT_FALSE(plan.loss.has_value());
  ASSERT_EQ(plan.stages.size(), 2u);
  for (const StagePlan& stage : plan.stages) {
    EXPECT_TRUE(stage.backward.instructions.empty());
    EXPECT_EQ(stage.accumulator_bytes, 0);
  }
  EXPECT_EQ(compiled.report.warnings.size(), 1u) << "block C has nothing to do";
}

TEST(Compile, ComputesInInferenceWhatItComputesInTraining) {
  const Plan trained = compile(small_network().graph(), training()).plan;
  const Plan served = compile(small_network().graph(), {.batch = 3}).plan;
  const Inputs inputs = random_inputs(trained, 1);
  const Tensor y = PlanRunner(trained).run(inputs)[0][0];
  EXPECT_TRUE(same_bits(PlanRunner(served).run({{inputs[0][0]}})[0][0], y));
}

/// (x, count [1]) -> (x + count, count + 1); in inference just x.
const Op counted{.name = "counted",
                 .infer =
                     [](const Attributes&, Types in) {
                       return std::vector<TensorType>{in[0], in[1]};
                     },
                 .forward =
                     [](const KernelCall& call) {
                       const float count = call.inputs[1].f32()[0];
                       for (std::size_t i = 0; i < call.inputs[0].f32().size(); ++i)
                         call.outputs[0].f32()[i] = call.inputs[0].f32()[i] + count;
                       call.outputs[1].f32()[0] = count + 1;
                     },
                 .backward = [](GradientContext& context) { context.set(0, context.gradient(0)); },
                 .updates = {{1, 1}},
                 .inference = []() -> const Op& { return find_op("identity"); }};

ModelBuilder counting_network() {
  ModelBuilder model;
  const auto x = model.input("x", {2});
  const auto h = model.linear("fc", x, 2);
  const auto y = model.apply(counted, {h, model.buffer("count", {1})}, {}, "counted");
  model.output("y", y);
  model.loss(y);
  return model;
}

// 2.1: statistics change by micro-batch.
TEST(Compile, UpdatesABufferInPlaceOncePerMicroBatch) {
  const Plan plan = compile(counting_network().graph(), training()).plan;
  PlanRunner runner(plan);
  runner.set_variable("count", Tensor({1}, {5.0f}));
  const auto batch = random_inputs(plan, 1)[0];
  const auto outputs = runner.run({batch, batch});
  EXPECT_EQ(runner.variable("count").item(), 7);
  EXPECT_FLOAT_EQ(outputs[1][0].as<float>()[0] - outputs[0][0].as<float>()[0], 1);
  EXPECT_TRUE(runner.gradients("count").empty());
  EXPECT_FALSE(plan.variables.back().trainable);
}

TEST(Compile, LeavesBuffersAloneInInference) {
  const Plan plan = compile(counting_network().graph(), {.batch = 3}).plan;
  for (const VariableInfo& variable : plan.variables) EXPECT_NE(variable.name, "count");
  const auto& instructions = plan.stages[0].forward.instructions;
  EXPECT_EQ(instructions.back().op->name, "identity");
  EXPECT_EQ(instructions.back().name, "counted");
}

const Instruction& named(const Program& program, const std::string& name) {
  return *std::ranges::find(program.instructions, name, &Instruction::name);
}

TEST(Compile, DrawsTheSameNumbersForwardAndBackward) {
  const Plan plan = compile(small_network().graph(), training()).plan;
  const StagePlan& a = plan.stages[0];
  EXPECT_EQ(named(a.forward, "fc1").name_hash, hash_name("fc1"));
  EXPECT_EQ(named(a.backward, "fc1/relu_gradient").name_hash, hash_name("fc1"));
}

TEST(Compile, GivesAStageTheSlotsThatItsScheduleAllows) {
  CompileRequest request = training();
  request.schedule = &interleaved;
  const Plan plan = compile(small_network().graph(), request).plan;
  for (std::size_t stage = 0; stage < 3; ++stage) {
    const StagePlan& s = plan.stages[stage];
    EXPECT_EQ(s.in_flight, 3 - static_cast<int>(stage));
    EXPECT_EQ(s.stash_slots, s.in_flight + (stage == 0 ? 0 : 2)) << "B has an output, C the loss";
  }
}

TEST(Compile, AddsUpTheBytesOfAStage) {
  const Plan plan = compile(small_network().graph(), training()).plan;
  // B: weight 4x4 and bias 4, each with one sum; stashed: y [3,4]; sent back to A: the sum of two
  // gradients would be A's, so two tensors [3,4], each for the five that A may hold.
  const StagePlan& b = plan.stages[1];
  EXPECT_EQ(b.parameter_bytes, 64 + 64);
  EXPECT_EQ(b.accumulator_bytes, 64 + 64);
  EXPECT_EQ(b.stash_bytes, 64);
  EXPECT_EQ(stage_bytes(plan, 1), 256 + b.stash_slots * 64 + b.scratch_bytes + 5 * 64);
}

TEST(Compile, WarnsOfParametersThatTheLossDoesNotSee) {
  ModelBuilder model;
  const auto x = model.input("x", {2});
  model.output("aside", model.linear("aside", x, 2));
  model.loss(model.linear("fc", x, 2));
  model.parameter("idle", {3});
  const auto compiled = compile(model.graph(), training());
  EXPECT_EQ(compiled.report.warnings,
            (std::vector<std::string>{
                "parameter \"aside.weight\" does not influence the loss and is not trained",
                "parameter \"aside.bias\" does not influence the loss and is not trained",
                "parameter \"idle\" does not influence the loss and is not trained"}));
  ASSERT_EQ(compiled.plan.variables.size(), 4u);
  EXPECT_FALSE(compiled.plan.variables[0].trainable);
  EXPECT_TRUE(compiled.plan.stages[0].variables[0].gradients.empty());
  EXPECT_TRUE(compiled.plan.variables[2].trainable);
}

/// A copy that fills its workspace with what would spoil any tensor there.
const Op scribbling{
    .name = "scribbling",
    .infer = [](const Attributes&, Types in) { return std::vector<TensorType>{in[0]}; },
    .forward =
        [](const KernelCall& call) {
          std::ranges::fill(call.workspace, std::byte{0xff});
          std::ranges::copy(call.inputs[0].f32(), call.outputs[0].f32().begin());
        },
    .workspace = [](const Attributes&, Types, Types) { return std::int64_t{100}; }};

TEST(Compile, KeepsWorkspacesAwayFromTensors) {
  ModelBuilder model;
  const auto h = model.linear("fc1", model.input("x", {20}), 40);
  model.output("y", model.linear("fc2", model.apply("add", {h, model.apply(scribbling, {h})}), 4));
  const Plan plan = compile(model.graph(), {.batch = 3}).plan;
  EXPECT_TRUE(finite(PlanRunner(plan).run(random_inputs(plan, 1))[0][0]));
  EXPECT_GE(plan.stages[0].scratch_bytes, 100 + 2 * 480) << "a workspace and two tensors";
}

struct Refusal {
  const char* name;
  Graph model;
  CompileRequest request;
  Errc code;
  const char* text;
};

Graph without(void (*remove)(Graph&)) {
  Graph graph = small_network().graph();
  remove(graph);
  return graph;
}

std::vector<Refusal> refusals() {
  CompileRequest nothing = training();
  nothing.batch = 0;
  return {
      {"TrainingWithoutLoss", without([](Graph& g) {
         ModelBuilder model;
         model.linear("fc", model.input("x", {5}), 4);
         g = model.graph();
       }),
       training(), Errc::invalid_model,
       "model \"test\": has no loss, and training needs one: end in a loss such as cross_entropy, "
       "or wrap what should be minimised in identity_loss"},
      {"InferenceWithoutOutput",
       without([](Graph& g) { g.outputs.clear(); }),
       {},
       Errc::invalid_model,
       "model \"test\": has no output, and inference needs one"},
      {"OutputThatIsAnInput",
       without([](Graph& g) { g.outputs[0].value = g.inputs[0]; }),
       {},
       Errc::invalid_model,
       "model \"test\": the output \"y\" is not computed by any layer"},
      {"NoSamples", small_network().graph(), nothing, Errc::invalid_argument,
       "expected at least one sample per micro-batch, got 0"},
      {"UnknownBlock", small_network().graph(), training({{{"A", "Z"}}, {{"B", "C"}}}),
       Errc::invalid_topology,
       "stage 0: there is no block \"Z\"; the model has \"A\", \"B\", \"C\""},
  };
}

class CompileRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(CompileRefuses, AndSaysWhy) {
  const Refusal& r = GetParam();
  EXPECT_EQ(refusal(r.code, [&] { compile(r.model, r.request); }), r.text);
}

INSTANTIATE_TEST_SUITE_P(Requests, CompileRefuses, ::testing::ValuesIn(refusals()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Compile, ReportsTheLanesThatPaddingWastes) {
  CompileRequest request = training();
  const auto report = [&](std::int64_t batch) {
    request.batch = batch;
    return compile(convolutional_network().graph(), request).report;
  };
  EXPECT_EQ(report(40).lanes, 48);
  EXPECT_EQ(report(40).wasted_lanes, 8);
  EXPECT_EQ(report(32).lanes, 32);
  EXPECT_EQ(report(32).wasted_lanes, 0);
  EXPECT_EQ(report(3).lanes, 0) << "no layer works in lanes";
  EXPECT_EQ(report(3).wasted_lanes, 0);
}

}  // namespace
}  // namespace penstock::graph
