// A12, 3.7 and 3.8 of docs/reference.md: phased execution runs one phase at a time, and gives the
// bits of a pipeline.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "apps/networks/networks.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t updates = 3;
constexpr int batch = 12, accumulation = 4;

const std::vector<Tensor>& digits() {
  static const std::vector<Tensor> samples = all_samples(
      *first_samples(read_idx(data_path("mnist"), Split::train, {.mean = 0.1307, .std = 0.3081}),
                     batch * accumulation * 2 * updates));
  return samples;
}

Model four_blocks() {
  return networks::find_network("mnist-cnn").build(3);
}

Options options_for(Strategy strategy, const PhasedOptions& phased = {}) {
  Options options{.batch_size = batch, .device_iterations = 1};
  options.training.gradient_accumulation = accumulation;
  options.topology.threads_per_ipu = 1;
  options.topology.strategy = strategy;
  options.topology.phased = phased;
  return options;
}

TrainingRun run(const Options& options) {
  return train(four_blocks(), options, AdamW{.learning_rate = 0.01}, digits(), updates);
}

const TrainingRun& pipelined() {
  static const TrainingRun result = run(options_for(Strategy::pipelined));
  return result;
}

constexpr OnIpu every_class{
    .weights = true, .activations = true, .accumulators = true, .optimizer_state = true};

const Strategy strategies[] = {Strategy::serial_phased, Strategy::parallel_phased};

std::vector<PhasedOptions> every_way(Strategy strategy) {
  using enum PhaseLiveness;
  std::vector<PhaseLiveness> livenesses{off_ipu_after_forward};
  if (strategy == Strategy::serial_phased)
    livenesses.insert(livenesses.end(),
                      {off_ipu_after_forward_no_overlap, off_ipu_after_each_phase});
  std::vector<PhasedOptions> ways;
  for (const char* phases : {"B1;B2;B3;B4", "B1|B2;B3|B4", "B1,B2,B3,B4"})
    for (const bool batch_serial : {false, true}) {
      PhasedOptions way{.phases = parse_phases(phases), .batch_serial = batch_serial};
      ways.push_back(way);
      way.separate_backward_phase = true;
      ways.push_back(way);
      way.separate_backward_phase = false;
      if (way.phases.size() == 4)
        for (const PhaseLiveness liveness : livenesses) {
          way.liveness = liveness;
          ways.push_back(way);
        }
    }
  return ways;
}

std::string name_of(const PhasedOptions& phased) {
  return std::to_string(phased.phases.size()) + " phases, " +
         std::string(to_string(phased.liveness)) + (phased.batch_serial ? ", batch-serial" : "") +
         (phased.separate_backward_phase ? ", separate backward" : "");
}

TEST(Phases, A12_GiveTheBitsOfAPipeline) {
  for (const Strategy strategy : strategies)
    for (const PhasedOptions& way : every_way(strategy))
      EXPECT_EQ(first_difference(run(options_for(strategy, way)), pipelined()), "")
          << to_string(strategy) << ", " << name_of(way);
}

TEST(Phases, GiveTheBitsOfAPipelineWhateverTheyAreCombinedWith) {
  for (const Strategy strategy : strategies)
    for (const bool batch_serial : {false, true})
      for (const int replicas : {1, 2}) {
        Options options = options_for(strategy, {.batch_serial = batch_serial});
        options.topology.replication_factor = replicas;
        Options plain = options_for(Strategy::pipelined);
        plain.topology.replication_factor = replicas;
        options.training.recompute = true;
        options.device_iterations = 3;
        EXPECT_EQ(first_difference(run(options), run(plain)), "")
            << to_string(strategy) << (batch_serial ? ", batch-serial, " : ", ") << replicas;
      }
}

/// Trains in steps of a whole accumulation window, of two micro-batches, of a whole window again,
/// and of 7 samples, which are less than one micro-batch.
TrainingRun run_short_steps(Options options) {
  options.output.mode = OutputMode::all;
  const Model model = four_blocks();
  TrainingModel training(model, options, AdamW{.learning_rate = 0.01});
  TrainingRun run;
  for (const std::int64_t rows : {batch * accumulation, batch * 2, batch * accumulation, 7}) {
    std::vector<Tensor> step;
    for (const Tensor& field : digits()) step.push_back(field.rows(0, rows));
    const StepResult result = training.step(step);
    const auto losses = result.loss.as<float>();
    run.losses.insert(run.losses.end(), losses.begin(), losses.end());
  }
  for (const ParameterInfo& parameter : model.parameters())
    run.weights[parameter.name] = model.weight(parameter.name);
  run.state = training.optimizer_state();
  return run;
}

// In a short step, a turn has fewer micro-batches.
TEST(Phases, GiveTheBitsOfAPipelineInShortStepsToo) {
  const TrainingRun plain = run_short_steps(options_for(Strategy::pipelined));
  for (const Strategy strategy : strategies)
    for (const bool batch_serial : {false, true}) {
      Options options = options_for(strategy, {.batch_serial = batch_serial});
      EXPECT_EQ(first_difference(run_short_steps(options), plain), "") << to_string(strategy);
      options.topology.phased.on_ipu = every_class;
      EXPECT_EQ(first_difference(run_short_steps(options), plain), "")
          << to_string(strategy) << (batch_serial ? ", batch-serial, " : ", ") << "on the IPU";
    }
}

TEST(Phases, A12_AreTheStagesOnTheIpusOfTheStrategyUnlessPlacedElsewhere) {
  const auto ipus = [](const Options& options) {
    std::vector<int> result;
    const TrainingModel training(four_blocks(), options, AdamW{});
    for (const StagePlanReport& stage : training.compile_report().stages)
      result.push_back(stage.ipu);
    return result;
  };
  EXPECT_EQ(ipus(options_for(Strategy::serial_phased)), (std::vector{0, 0, 0, 0}));
  EXPECT_EQ(ipus(options_for(Strategy::parallel_phased)), (std::vector{0, 1, 0, 1}));
  EXPECT_EQ(ipus(options_for(Strategy::parallel_phased, {.phases = parse_phases("B1|B2;B3|B4")})),
            (std::vector{0, 2, 1, 3}));
  EXPECT_EQ(
      ipus(options_for(Strategy::parallel_phased, {.phases = {Phase{{"B1"}, {"B2"}}.on({4, 2}),
                                                              Phase{{"B3"}, {"B4"}}.on({1, 7})}})),
      (std::vector{4, 2, 1, 7}));
}

TEST(Phases, A12_AreShownWithTheirNumbers) {
  const Options options = options_for(
      Strategy::serial_phased, {.liveness = PhaseLiveness::off_ipu_after_forward_no_overlap});
  const TrainingModel training(four_blocks(), options, AdamW{});
  const auto& stages = training.compile_report().stages;
  ASSERT_EQ(stages.size(), 4u);
  const int forward[] = {0, 2, 4, 6}, backward[] = {16, 14, 12, 10};
  for (std::size_t i = 0; i < stages.size(); ++i) {
    EXPECT_EQ(stages[i].phase, static_cast<int>(i));
    EXPECT_EQ(stages[i].forward_phase, forward[i]);
    EXPECT_EQ(stages[i].backward_phase, backward[i]);
  }
  const std::string text = to_string(training.compile_report());
  EXPECT_NE(text.find("stage  IPU  phase  numbers"), text.npos) << text;
  EXPECT_NE(text.find("0 | 16"), text.npos) << text;
}

/// Returns which programs ran, in the order of time: "F0.1" is the forward of stage 0 for
/// micro-batch 1.
std::vector<std::string> programs(TrainingModel& training) {
  std::vector<std::string> runs;
  for (const TraceEvent& event : training.take_trace()) {
    if (event.activity == Activity::update || event.activity == Activity::load) continue;
    runs.push_back((event.activity == Activity::forward ? "F" : "B") + std::to_string(event.stage) +
                   "." + std::to_string(event.micro_batch));
  }
  return runs;
}

// 3.8 of docs/reference.md: with batch_serial, a phase loops over all micro-batches before the next
// phase begins.
TEST(BatchSerialPhases, DoAllMicroBatchesOfAWindowInATurn) {
  Options options = options_for(Strategy::parallel_phased, {.phases = parse_phases("B1,B2;B3,B4"),
                                                            .separate_backward_phase = true,
                                                            .batch_serial = true});
  options.runtime.trace = true;
  TrainingModel training(four_blocks(), options, AdamW{});
  std::vector<Tensor> step;
  for (const Tensor& field : digits()) step.push_back(field.rows(0, batch * accumulation));
  training.step(step);
  EXPECT_EQ(
      programs(training),
      (std::vector<std::string>{"F0.0", "F0.1", "F0.2", "F0.3", "F1.0", "F1.1", "F1.2", "F1.3",
                                "B1.0", "B1.1", "B1.2", "B1.3", "B0.0", "B0.1", "B0.2", "B0.3"}));
  for (const StageReport& stage : training.stage_reports())
    EXPECT_EQ(stage.max_in_flight, accumulation);
}

struct Loads {
  PhaseLiveness liveness;
  // These are the numbers of loads of weights in a turn, by stage.
  std::vector<std::uint64_t> forward, backward;
};

// Weights stay on the IPU if one of the next two phase numbers uses them again. Weights that leave
// are loaded once more for their backward. All weights are loaded once for the update.
TEST(BatchSerialPhases, BringTheWeightsOfAPhaseToTheIpuOncePerTurn) {
  const Loads table[] = {{PhaseLiveness::always_live, {1, 1, 1, 1}, {1, 1, 0, 0}},
                         {PhaseLiveness::off_ipu_after_forward, {1, 1, 1, 1}, {1, 1, 1, 1}}};
  for (const auto& [liveness, forward, backward] : table)
    for (const bool batch_serial : {false, true}) {
      const TrainingRun moved = run(options_for(
          Strategy::serial_phased, {.liveness = liveness, .batch_serial = batch_serial}));
      ASSERT_EQ(moved.stages.size(), 4u);
      const std::uint64_t turns = updates * (batch_serial ? 1 : accumulation);
      for (std::size_t i = 0; i < 4; ++i) {
        const StageReport& stage = moved.stages[i];
        EXPECT_EQ(stage.forward_weight_loads, turns * forward[i]) << to_string(liveness) << i;
        EXPECT_EQ(stage.backward_weight_loads, turns * backward[i]) << to_string(liveness) << i;
        const auto times = static_cast<std::int64_t>(turns * (forward[i] + backward[i]));
        EXPECT_GT(stage.weights.bytes, 0);
        EXPECT_EQ(stage.weights.loaded_bytes, (times + updates) * stage.weights.bytes);
      }
    }
}

// The activations of all micro-batches of a window wait for the backward, either on the IPU or in
// the host store.
TEST(BatchSerialPhases, TakeNoMoreOfAnIpuIfTheirActivationsWaitInTheHostStore) {
  const auto first_stage = [](bool batch_serial, bool offload) {
    return run(options_for(Strategy::serial_phased,
                           {.batch_serial = batch_serial, .on_ipu = {.activations = !offload}}))
        .stages.at(0);
  };
  const auto waiting = [](const StageReport& stage) {
    return stage.peak_bytes - stage.shared_bytes;
  };
  EXPECT_GT(waiting(first_stage(true, false)), waiting(first_stage(false, false)));
  const StageReport one_by_one = first_stage(false, true), window = first_stage(true, true);
  EXPECT_EQ(waiting(window), waiting(one_by_one));
  EXPECT_GT(one_by_one.activations.bytes, 0);
  EXPECT_EQ(window.activations.bytes, accumulation * one_by_one.activations.bytes);
  EXPECT_EQ(window.activations.stored_bytes, one_by_one.activations.stored_bytes);
}

TEST(Phases, A12_RefuseIpusThatAreNotTheirs) {
  Options options = options_for(Strategy::parallel_phased);
  options.topology.ipus = {0, 1, 1, 1};
  EXPECT_EQ(
      refusal(Errc::invalid_topology, [&] { TrainingModel(four_blocks(), options, AdamW{}); }),
      "parallel_phased: phase 2 is on IPU 1; expected even phases on even IPUs and odd phases "
      "on odd");
  options.topology.strategy = Strategy::serial_phased;
  EXPECT_EQ(
      refusal(Errc::invalid_topology, [&] { TrainingModel(four_blocks(), options, AdamW{}); }),
      "serial_phased: phase 1 is on IPU 1; expected all phases on the same, IPU 0 (for two "
      "sets of IPUs there is parallel_phased)");
}

TEST(Phases, RunInferenceToo) {
  const auto outputs = [](const Options& options) {
    InferenceModel inference(four_blocks(), options);
    return inference.run({digits()[0].rows(0, batch)}).outputs.at(0).tensor;
  };
  Options plain{.batch_size = batch};
  for (const Strategy strategy : strategies) {
    Options options = plain;
    options.topology.strategy = strategy;
    options.topology.phased.batch_serial = true;
    const Tensor a = outputs(plain), b = outputs(options);
    EXPECT_TRUE(std::ranges::equal(a.as<float>(), b.as<float>())) << to_string(strategy);
  }
}

/// Returns a model of blocks A and B with two blocks between them. Those two compute losses, which
/// no output needs.
Model with_auxiliary_losses() {
  Model model("m", 5);
  const auto loss = [&](const char* block, const char* name, Value x) {
    const auto scope = model.block(block);
    return model.identity_loss(model.linear(name, x, 4));
  };
  Value x = model.input("x", {4});
  {
    const auto scope = model.block("A");
    x = model.tanh(model.linear("a", x, 4));
  }
  const Value first = loss("L1", "l1", x), second = loss("L2", "l2", x);
  const auto scope = model.block("B");
  x = model.linear("b", x, 4);
  model.output("y", x);
  model.loss(model.identity_loss(model.add(model.add(first, second), model.identity_loss(x))));
  return model;
}

std::string ipus_of(const CompileReport& report) {
  std::string ipus;
  for (const StagePlanReport& stage : report.stages)
    ipus += stage.blocks.at(0) + "@" + std::to_string(stage.ipu) + " ";
  return ipus;
}

TEST(Phases, A12_OfInferenceAreWhereTheyAreInTrainingIfOneIsLeftOut) {
  std::vector<float> values(16);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.1F * static_cast<float>(i);
  const Tensor x({4, 4}, values);
  const auto output = [&](InferenceModel& inference) { return inference.run({x}).outputs.at(0); };
  const Model model = with_auxiliary_losses();
  InferenceModel plain(model, {.batch_size = 2, .device_iterations = 2});
  const Tensor expected = output(plain).tensor;
  const auto expect_ipus = [&](const PhasedOptions& phased, Strategy strategy,
                               const std::string& training, const std::string& inference) {
    Options options = options_for(strategy, phased);
    options.batch_size = options.device_iterations = 2;
    EXPECT_EQ(ipus_of(TrainingModel(model, options, AdamW{}).compile_report()), training);
    InferenceModel phases(model, options);
    EXPECT_EQ(ipus_of(phases.compile_report()), inference);
    EXPECT_TRUE(std::ranges::equal(output(phases).tensor.as<float>(), expected.as<float>()));
  };
  expect_ipus({.phases = parse_phases("A;L1|L2;B")}, Strategy::parallel_phased,
              "A@0 L1@1 L2@3 B@0 ", "A@0 B@0 ");
  expect_ipus(
      {.phases = {Phase{{"A"}}.on({0}), Phase{{"L1"}, {"L2"}}.on({0, 1}), Phase{{"B"}}.on({1})}},
      Strategy::serial_phased, "A@0 L1@0 L2@1 B@1 ", "A@0 B@1 ");
}

// No weights are loaded for the backward numbers of phases, which run nothing in inference. If such
// a load went on after the call, the host could set weights meanwhile.
TEST(Phases, BringWeightsForForwardAloneInInference) {
  const Model model = four_blocks();
  Options options{.batch_size = batch, .device_iterations = 3};
  InferenceModel plain(model, options);
  options.topology.strategy = Strategy::serial_phased;
  InferenceModel phased(model, options);
  const Tensor images = digits()[0].rows(0, 3 * batch);
  const ParameterInfo first = model.parameters().front();
  for (int round = 0; round < 20; ++round) {
    std::vector<float> values(static_cast<std::size_t>(first.shape.elements()),
                              0.01F * static_cast<float>(round));
    Model(model).set_weight(first.name, Tensor(first.shape, values));
    const Tensor a = plain.run({images}).outputs.at(0).tensor;
    const Tensor b = phased.run({images}).outputs.at(0).tensor;
    ASSERT_TRUE(std::ranges::equal(a.as<float>(), b.as<float>())) << round;
  }
  for (const StageReport& stage : phased.stage_reports()) {
    EXPECT_GT(stage.forward_weight_loads, 0U) << stage.stage;
    EXPECT_EQ(stage.backward_weight_loads, 0U) << stage.stage;
  }
}

// D10 and 3.7 of docs/reference.md: in phases, every class of tensors is in the host store unless
// `on_ipu` says otherwise.
TEST(Phases, KeepEveryClassInTheHostStoreThatIsNotToldToStay) {
  const auto offloaded = [](const OnIpu& on_ipu) {
    const TrainingRun trained = run(options_for(Strategy::serial_phased, {.on_ipu = on_ipu}));
    EXPECT_EQ(first_difference(trained, pipelined()), "");
    std::vector<std::int64_t> bytes(4, 0);
    for (const StageReport& stage : trained.stages) {
      bytes[0] += stage.weights.bytes;
      bytes[1] += stage.activations.bytes > 0;
      bytes[2] += stage.accumulators.bytes;
      bytes[3] += stage.optimizer_state.bytes;
    }
    return bytes;
  };
  constexpr std::int64_t parameters = 90'026 * 4;
  EXPECT_EQ(offloaded({}), (std::vector<std::int64_t>{parameters, 4, parameters, 2 * parameters}));
  EXPECT_EQ(offloaded({.weights = true}),
            (std::vector<std::int64_t>{0, 4, parameters, 2 * parameters}));
  EXPECT_EQ(offloaded({.activations = true, .accumulators = true, .optimizer_state = true}),
            (std::vector<std::int64_t>{parameters, 0, 0, 0}));
}

}  // namespace
}  // namespace penstock::testing
