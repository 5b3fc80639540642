// The life of models: calls of any size, detaching and attaching, copies, input groups of replicas,
// what is told of compiling, by the rows of docs/reference.md.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "penstock/fit.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::testing {
namespace {

/// Two blocks, with dropout and batch statistics, and a weight that both use.
Model tied_model() {
  Model model("tied", 3);
  Value x = model.input("x", {4, 1, 1});
  const Value labels = model.labels();
  {
    const auto block = model.block("B1");
    x = model.flatten(model.batch_norm2d("norm", x));
    x = model.dropout("drop", model.relu(model.linear("fc", x, 4)), 0.5);
  }
  const auto block = model.block("B2");
  x = model.linear(model.relu(x), model.parameter("fc.weight"));
  model.output("y", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

/// Two blocks without anything that depends on the micro-batch's size.
Model plain_model() {
  Model model("plain", 5);
  Value x = model.input("x", {4});
  const Value labels = model.labels();
  {
    const auto block = model.block("B1");
    x = model.tanh(model.linear("fc1", x, 6));
  }
  const auto block = model.block("B2");
  x = model.linear("fc2", x, 4);
  model.output("y", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

std::vector<Tensor> samples(std::int64_t count, bool images, std::uint64_t seed = 1) {
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) labels.push_back(i % 4);
  const Shape shape = images ? Shape{count, 4, 1, 1} : Shape{count, 4};
  return {uniform(shape, seed), Tensor({count}, labels)};
}

Options options_for(int batch, int accumulation, int iterations) {
  Options options{.batch_size = batch, .device_iterations = iterations, .seed = 11};
  options.training.gradient_accumulation = accumulation;
  options.runtime.threads = 2;
  return options;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

void expect_same_weights(const Model& a, const Model& b) {
  for (const ParameterInfo& info : a.parameters())
    EXPECT_TRUE(same_bits(a.weight(info.name), b.weight(info.name))) << info.name;
}

TEST(Detaching, F15_ChangesNoBitOfATrainingThatGoesOn) {
  const Options options = options_for(2, 2, 1);
  const Model whole = tied_model(), swapped = tied_model();
  TrainingModel straight(whole, options, AdamW{.learning_rate = 0.1});
  TrainingModel training(swapped, options, AdamW{.learning_rate = 0.1});
  InferenceModel serving(swapped, options);
  for (std::uint64_t swap = 1; swap <= 5; ++swap) {
    const auto data = samples(4, true, swap);
    const StepResult expected = straight.step(data), result = training.step(data);
    EXPECT_TRUE(same_bits(result.loss, expected.loss)) << "swap " << swap;
    training.detach();
    EXPECT_FALSE(training.attached());
    EXPECT_EQ(training.updates(), swap);
    serving.run({samples(2, true)[0]});
    serving.detach();
  }
  expect_same_weights(whole, swapped);
  const auto expected = straight.optimizer_state(), state = training.optimizer_state();
  EXPECT_FALSE(training.attached()) << "reading what was kept needs no IPU";
  ASSERT_EQ(state.size(), expected.size());
  for (std::size_t i = 0; i < state.size(); ++i)
    EXPECT_TRUE(same_bits(state[i].tensor, expected[i].tensor)) << state[i].name;
}

TEST(Detaching, F15_EndsItsThreads) {
  const std::size_t threads = thread_count();
  const Model model = tied_model();
  TrainingModel training(model, options_for(2, 2, 1), AdamW{});
  training.step(samples(4, true));
  const Tensor mean = training.buffer("norm.running_mean", 0);
  training.detach();
  EXPECT_TRUE(threads_fall_to(threads));
  EXPECT_TRUE(same_bits(training.buffer("norm.running_mean", 0), mean));
  EXPECT_GT(thread_count(), threads);
  EXPECT_TRUE(training.attached());
  training.attach();  // nothing more to do
  EXPECT_EQ(training.updates(), 1U);
}

TEST(Detaching, F15_IsRefusedWhereNothingIsAttached) {
  const Model model = tied_model();
  TrainingModel training(model, options_for(2, 2, 1));
  InferenceModel serving(model, options_for(2, 1, 1));
  training.detach();
  serving.detach();
  const std::string text = "detach: model \"tied\" is not attached to its IPUs";
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { training.detach(); }), text);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { serving.detach(); }), text);
  EXPECT_TRUE(training.stage_reports().empty());
}

TEST(ShortSteps, R2_6_TrainAsAModelOfThatSizeWould) {
  const std::int64_t rest = 6;  // samples: two micro-batches of three
  const Optimizer optimizer = AdamW{.learning_rate = 0.1};
  const Model model = plain_model(), twin = plain_model();
  Options options = options_for(4, 2, 2);
  options.output.mode = OutputMode::all;
  TrainingModel training(model, options, optimizer);
  const auto data = samples(8 + rest, false);
  const StepResult result = training.step(data);
  EXPECT_EQ(training.updates(), 2U);
  EXPECT_EQ(result.output("y").shape(), (Shape{8 + rest, 4}));
  EXPECT_EQ(result.loss.shape(), (Shape{2 + 2}));

  Options first = options_for(4, 2, 1), second = options_for(3, 2, 1);
  TrainingModel before(twin, first, optimizer);
  before.step({data[0].rows(0, 8), data[1].rows(0, 8)});
  TrainingModel after(twin, second, optimizer);
  after.set_optimizer_state(before.optimizer_state());
  after.step({data[0].rows(8, 14), data[1].rows(8, 14)});
  expect_same_weights(model, twin);
}

TEST(ShortSteps, R2_6_GoOnWithWholeOnesAndReturnWhatTheLastUpdateDid) {
  const Model model = plain_model();
  TrainingModel training(model, options_for(2, 2, 2), AdamW{});
  EXPECT_EQ(training.step(samples(7, false)).output("y").shape(), (Shape{1, 4}));
  EXPECT_EQ(training.step(samples(8, false)).output("y").shape(), (Shape{2, 4}));
  EXPECT_EQ(training.step(samples(2, false)).output("y").shape(), (Shape{2, 4}));
  EXPECT_EQ(training.updates(), 2U + 2U + 1U);
  training.detach();
  training.step(samples(3, false));
  EXPECT_EQ(training.updates(), 6U);
}

TEST(ShortSteps, R2_6_TakeOverTheOptimizersStateWhereverItIsKept) {
  const auto trained = [](bool elsewhere) {
    Options options = options_for(2, 2, 1);
    options.topology.replication_factor = 2;
    options.training.offload.optimizer_state.on = elsewhere;
    options.training.sharding.optimizer_state = {.on = elsewhere, .minimum_elements = 2};
    const Model model = plain_model();
    TrainingModel training(model, options, AdamW{.learning_rate = 0.1});
    for (const std::int64_t count : {8, 5, 8, 3}) training.step(samples(count, false));
    EXPECT_EQ(training.updates(), 4U);
    return model;
  };
  expect_same_weights(trained(true), trained(false));
}

TEST(ShortSteps, R2_6_AreRefusedWhereShapesAreStatic) {
  const Model model = plain_model();
  Options options = options_for(2, 2, 2);
  options.static_shapes = true;
  TrainingModel training(model, options);
  InferenceModel serving(model, options);
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { training.step(samples(4, false)); }),
            "step: expected 8 samples (batch size x gradient accumulation x device iterations x "
            "replicas), for options.static_shapes is set, got 4");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { serving.run({samples(3, false)[0]}); }),
            "run: expected 4 samples (batch size x device iterations x replicas), for "
            "options.static_shapes is set, got 3");
  training.step(samples(8, false));
  serving.run({samples(4, false)[0]});
  EXPECT_EQ(training.updates(), 2U);
}

TEST(ShortSteps, R2_6_AreRefusedWhereOutputsWouldMixSizes) {
  const Model model = plain_model();
  for (const OutputMode mode : {OutputMode::sum, OutputMode::every_n}) {
    Options options = options_for(2, 2, 2);
    options.output.mode = mode;
    TrainingModel training(model, options);
    EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { training.step(samples(3, false)); }),
              "step: expected a multiple of 4 samples, for the output mode is " +
                  std::string(to_string(mode)) + ", got 3");
    EXPECT_EQ(training.updates(), 0U);
  }
}

// Similarities of the samples of a micro-batch with each other: as many columns as it has samples.
TEST(ShortSteps, R2_6_AreRefusedBeforeAnythingRanWhereOutputsCannotBeJoined) {
  Model model("similar", 3);
  const Value x = model.linear("fc", model.input("x", {4}), 4);
  model.output("similarity", model.matmul(x, model.transpose(x, {1, 0})));
  model.loss(model.cross_entropy(x, model.labels()));
  Options options = options_for(4, 1, 2);
  options.output.mode = OutputMode::all;
  TrainingModel training(model, options);
  InferenceModel serving(model, options);
  const Tensor before = model.weight("fc.weight");
  const std::string text =
      "output \"similarity\": its rows are of [4,4] in micro-batches of 4 samples and of [2,2] in "
      "those of 2, which cannot be put one after the other";
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { training.step(samples(6, false)); }),
            "step of 6 samples, of which 2 fill no update (one takes 4): " + text);
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { serving.run({samples(6, false)[0]}); }),
            "run of 6 samples, of which 2 fill no micro-batch for every replica (4): " + text);
  EXPECT_EQ(training.updates(), 0U);
  EXPECT_TRUE(same_bits(model.weight("fc.weight"), before));
  EXPECT_EQ(training.step(samples(2, false)).output("similarity").shape(), (Shape{2, 2}));
  EXPECT_EQ(serving.run({samples(8, false)[0]}).output("similarity").shape(), (Shape{8, 4}));
}

TEST(ShortSteps, R2_6_ThatCannotBeTrainedAreRefusedAndLeaveTheModelAsItWas) {
  Model model("norm", 3);
  const Value x = model.reshape(model.linear("fc", model.input("x", {4}), 4), {4, 1, 1});
  model.loss(model.cross_entropy(model.flatten(model.batch_norm2d("norm", x)), model.labels()));
  TrainingModel training(model, options_for(4, 2, 1));
  training.step(samples(8, false));
  // Seven samples are micro-batches of one.
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { training.step(samples(7, false)); }),
            "step of 7 samples, of which 7 fill no update (one takes 8): batch_norm2d \"norm\": "
            "expected more than one value per channel to train on, got f32[1,4,1,1]");
  EXPECT_EQ(training.updates(), 1U);
  training.step(samples(6, false));
  EXPECT_EQ(training.updates(), 2U);
}

// The labels of the first short step are fine, those of the second are not.
TEST(ShortSteps, ThatFailCloseTheModelAtItsLastUpdate) {
  const Model model = plain_model();
  TrainingModel training(model, options_for(2, 2, 2), AdamW{});
  training.step(samples(3, false));
  const Tensor before = model.weight("fc1.weight");
  auto bad = samples(3, false);
  bad[1] = Tensor({3}, std::vector<std::int64_t>{0, 9, 1});
  EXPECT_NE(refusal(Errc::stage_failed, [&] { training.step(bad); }), "accepted");
  EXPECT_NE(refusal(Errc::closed, [&] { training.step(samples(8, false)); }), "accepted");
  EXPECT_TRUE(same_bits(model.weight("fc1.weight"), before));
}

TEST(RandomNumbers, R2_6_GoOnWhereASavedTrainingEnded) {
  const Options options = options_for(2, 2, 1);
  const Model whole = tied_model(), first = tied_model(), second = tied_model();
  TrainingModel straight(whole, options, Sgd{.learning_rate = 0.1});
  straight.step(samples(4, true, 1));
  straight.step(samples(4, true, 2));
  std::vector<NamedTensor> state;
  {
    TrainingModel training(first, options, Sgd{.learning_rate = 0.1});
    training.step(samples(4, true, 1));
    state = training.optimizer_state();
  }
  Model loaded = second;
  for (const ParameterInfo& info : first.parameters())
    loaded.set_weight(info.name, first.weight(info.name));
  TrainingModel training(loaded, options, Sgd{.learning_rate = 0.1});
  training.set_optimizer_state(state);
  training.step(samples(4, true, 2));
  expect_same_weights(whole, loaded);

  TrainingModel other_masks(first, options, Sgd{.learning_rate = 0.1});
  other_masks.step(samples(4, true, 2));  // the masks of update 0 again
  EXPECT_FALSE(same_bits(first.weight("fc.weight"), whole.weight("fc.weight")));
}

TEST(Copies, A5_OfAModelHaveWeightsOfTheirOwn) {
  Model model("m", 5);
  const Value x = model.tanh(model.linear("fc1", model.input("x", {4}), 6));
  model.loss(model.cross_entropy(model.linear("fc2", x, 4), model.labels()));
  model.begin_block_at("fc2", "B2", 7);
  TrainingModel training(model, options_for(2, 2, 1));
  training.step(samples(4, false));
  Model copy = model.clone();
  expect_same_weights(model, copy);
  EXPECT_EQ(to_string(copy.stage_assignment()), to_string(model.stage_assignment()));
  const Tensor before = model.weight("fc1.weight");
  TrainingModel other(copy, options_for(2, 2, 1));
  other.step(samples(4, false));
  EXPECT_TRUE(same_bits(model.weight("fc1.weight"), before));
  EXPECT_FALSE(same_bits(copy.weight("fc1.weight"), before));
  training.step(samples(4, false));
  expect_same_weights(model, copy);
  copy.remove_block_marks();
  EXPECT_NE(to_string(copy.stage_assignment()), to_string(model.stage_assignment()));
}

// Replicas 0 and 1 share their rows, and so do 2 and 3.
TEST(InputGroups, D6_GetTheSameRows) {
  Options options = options_for(1, 1, 2);
  options.topology.replication_factor = 4;
  options.topology.input_group_size = 2;
  options.output.mode = OutputMode::all;
  EXPECT_EQ(options.samples_per_step(), 4);
  const Model model = plain_model();
  InferenceModel grouped(model, options), single(model, options_for(4, 1, 1));
  const Tensor x = samples(4, false)[0];
  const Tensor each = single.run({x}).output("y"), y = grouped.run({x}).output("y");
  ASSERT_EQ(y.shape(), (Shape{8, 4}));
  for (std::int64_t row = 0; row < 8; ++row) {
    const Tensor expected = each.rows(row / 2, row / 2 + 1), actual = y.rows(row, row + 1);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_FLOAT_EQ(actual.as<float>()[i], expected.as<float>()[i]) << row;
  }
  EXPECT_NE(
      refusal(Errc::shape_mismatch, [&] { grouped.run({x.rows(0, 1)}); }).find("input_group_size"),
      std::string::npos);
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { grouped.run({samples(6, false)[0]}); }),
            "run: expected 1 to 4 samples (batch size x device iterations x input groups), got 6");
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { predict(grouped, {x}); }),
            "predict: expected replicas with inputs of their own, but "
            "options.topology.input_group_size is 2, and a sample has as many rows; call "
            "InferenceModel::run(), which returns them all");
}

TEST(InputGroups, D6_TrainAsOnRowsThatAreGivenTwice) {
  Options grouped = options_for(2, 2, 1), twice = grouped;
  grouped.topology.replication_factor = twice.topology.replication_factor = 2;
  grouped.topology.input_group_size = 2;
  const Model one = plain_model(), other = plain_model();
  const auto data = samples(4, false);
  std::vector<float> x;
  std::vector<std::int64_t> labels;
  for (const std::int64_t row : {0, 1, 0, 1, 2, 3, 2, 3}) {
    const Tensor one_row = data[0].rows(row, row + 1);
    x.insert(x.end(), one_row.as<float>().begin(), one_row.as<float>().end());
    labels.push_back(data[1].as<std::int64_t>()[static_cast<std::size_t>(row)]);
  }
  TrainingModel(one, grouped).step(data);
  TrainingModel(other, twice).step({Tensor({8, 4}, x), Tensor({8}, labels)});
  expect_same_weights(one, other);
}

void expect_ordered(const Latency& latency, double seconds) {
  EXPECT_GE(latency.least, 0);
  EXPECT_LE(latency.least, latency.mean);
  EXPECT_LE(latency.mean, latency.most);
  EXPECT_LE(latency.most, seconds);
}

TEST(CallReports, R2_6_HaveAMomentForEachMicroBatchThatComesAndGoes) {
  const std::pair<OutputMode, std::size_t> cases[] = {
      {OutputMode::all, 8}, {OutputMode::every_n, 4}, {OutputMode::final, 2}, {OutputMode::sum, 2}};
  for (const auto& [mode, returned] : cases) {
    Options options = options_for(2, 2, 2);  // D·G·R = 8 micro-batches
    options.topology.replication_factor = 2;
    options.output = {.mode = mode, .period = 2};
    options.runtime.trace = true;
    TrainingModel training(plain_model(), options);
    for (int call = 0; call < 2; ++call) {
      training.step(samples(16, false));
      const CallReport& report = training.last_call();
      ASSERT_EQ(report.inputs.size(), 2U);
      ASSERT_EQ(report.outputs.size(), 2U);
      for (const TensorTimes& input : report.inputs) EXPECT_EQ(input.seconds.size(), 8U);
      for (const TensorTimes& output : report.outputs)
        EXPECT_EQ(output.seconds.size(), returned) << to_string(mode);
      // Labels are read by the second stage.
      for (std::size_t i = 0; i < 8; ++i)
        EXPECT_LT(report.inputs[0].seconds[i], report.inputs[1].seconds[i]);
      for (const Latency& latency : {report.to_ipus, report.on_ipus, report.from_ipus})
        expect_ordered(latency, report.seconds);
      EXPECT_GT(report.first_run_seconds, 0);
      EXPECT_LE(report.first_run_seconds, report.to_ipus.least);
    }
    EXPECT_FALSE(training.take_trace().empty()) << "reports take nothing from the trace";
  }
}

// The weights of a phase come before its first program.
TEST(CallReports, R2_6_TellProgramsFromLoads) {
  Options options = options_for(2, 2, 1);
  options.topology.strategy = Strategy::serial_phased;
  options.runtime.trace = true;
  TrainingModel training(plain_model(), options);
  training.step(samples(4, false));
  const CallReport& report = training.last_call();
  EXPECT_EQ(report.first_run_seconds, report.inputs.at(0).seconds.at(0));
  const auto trace = training.take_trace();
  EXPECT_EQ(trace.at(0).activity, Activity::load);
}

TEST(CallReports, R2_6_TellTheTimeOfACallAloneWhereNothingIsRecorded) {
  const Model model = plain_model();
  TrainingModel training(model, options_for(2, 2, 2));
  EXPECT_EQ(training.last_call().seconds, 0);
  training.step(samples(3, false));
  InferenceModel serving(model, options_for(2, 1, 2));
  serving.run({samples(3, false)[0]});
  for (const CallReport& report : {training.last_call(), serving.last_call()}) {
    EXPECT_GT(report.seconds, 0);
    EXPECT_TRUE(report.inputs.empty() && report.outputs.empty());
    EXPECT_EQ(report.on_ipus.most, 0);
  }
}

TEST(CallReports, R2_6_OfInferenceAreOfTheLastCallEvenAfterADetach) {
  Options options = options_for(2, 1, 3);
  options.runtime.trace = true;
  InferenceModel serving(plain_model(), options);
  for (const std::int64_t count : {6, 4, 1}) {
    serving.run({samples(count, false)[0]});
    const auto micro_batches = static_cast<std::size_t>((count + 1) / 2);
    EXPECT_EQ(serving.last_call().inputs.at(0).seconds.size(), micro_batches);
    EXPECT_EQ(serving.last_call().outputs.at(0).seconds.size(), micro_batches);
    expect_ordered(serving.last_call().on_ipus, serving.last_call().seconds);
    serving.detach();
  }
}

TEST(Compilation, D16_TellsItsPhasesAndHowManyAreOver) {
  Options options = options_for(2, 2, 1);
  std::vector<CompileProgress> told;
  options.runtime.compile_progress = [&](const CompileProgress& p) { told.push_back(p); };
  const TrainingModel training(plain_model(), options);
  const auto& phases = training.compile_report().phases;
  ASSERT_EQ(told.size(), phases.size() + 1);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    EXPECT_EQ(told[i].phase, phases[i].name);
    EXPECT_DOUBLE_EQ(told[i].done, static_cast<double>(i) / static_cast<double>(phases.size()));
  }
  EXPECT_EQ(told.back().phase, "");
  EXPECT_EQ(told.back().done, 1);
  told.clear();
  const InferenceModel serving(plain_model(), options);
  ASSERT_EQ(told.size(), serving.compile_report().phases.size() + 1);
  EXPECT_EQ(told.back().done, 1);
}

TEST(Compilation, D16_IsGivenUpIfItsListenerThrows) {
  Options options = options_for(2, 2, 1);
  options.runtime.compile_progress = [](const CompileProgress&) { throw std::runtime_error("no"); };
  const Model model = plain_model();
  EXPECT_THROW(TrainingModel(model, options), std::runtime_error);
}

/// Lines that a training of one step and its end leave at a level.
std::size_t lines_at(LogLevel level) {
  std::size_t lines = 0;
  Options options = options_for(2, 1, 1);  // too little for two stages, which is warned of
  options.runtime.log_level = level;
  options.runtime.log = [&](std::string_view) { ++lines; };
  TrainingModel training(plain_model(), options);
  const std::size_t compiled = lines;
  training.step(samples(2, false));
  return level == LogLevel::debug ? lines - compiled : compiled;
}

TEST(LogLevels, D14_LeaveOutWhatMattersLess) {
  EXPECT_GT(lines_at(LogLevel::debug), 0U);
  EXPECT_GT(lines_at(LogLevel::info), 0U);
  EXPECT_GT(lines_at(LogLevel::warning), 0U);
  EXPECT_EQ(lines_at(LogLevel::error), 0U);
  EXPECT_EQ(lines_at(LogLevel::off), 0U);
}

TEST(LogLevels, D14_ComeFromTheEnvironmentWhereTheOptionsHaveNone) {
  const auto with_variable = [](const char* value) {
    ::setenv("PENSTOCK_LOG_LEVEL", value, 1);
    const std::size_t lines = lines_at(LogLevel::automatic);
    ::unsetenv("PENSTOCK_LOG_LEVEL");
    return lines;
  };
  EXPECT_EQ(with_variable("error"), 0U);
  EXPECT_GT(with_variable("info"), 0U);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { with_variable("loud"); }),
            "PENSTOCK_LOG_LEVEL: expected one of debug, info, warning, error, off, got \"loud\"");
  ::unsetenv("PENSTOCK_LOG_LEVEL");
}

// The weights are read back for the first line of the step, which is a line as well.
TEST(LoggedModel, D14_MayBeCalledByItsLog) {
  const Model model = plain_model();
  const std::string weight = model.parameters()[0].name;
  std::vector<std::string> lines;
  Tensor seen;
  Options options = options_for(2, 1, 1);
  options.runtime.log_level = LogLevel::debug;
  options.runtime.log = [&](std::string_view line) {
    lines.emplace_back(line);
    seen = model.weight(weight);
  };
  TrainingModel training(model, options, AdamW{});
  training.step(samples(2, false));
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines.back().find("micro-batches per replica done"), std::string::npos) << lines.back();
  const Tensor newest = model.weight(weight);
  EXPECT_EQ(std::memcmp(seen.raw(), newest.raw(), newest.bytes()), 0);
}

}  // namespace
}  // namespace penstock::testing
