// 2.4 and 2.5 of docs/reference.md: these tests check what calls return under each output mode, in
// which shape and order.
#include <gtest/gtest.h>

#include "penstock/penstock.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t batch = 2;

struct Call {
  std::int64_t d, g, r;  ///< These are D, G and R of the options.
};

/// A Mode is an output mode, with the number of micro-batches that it returns.
struct Mode {
  OutputMode mode;
  int period;
  /// Returns the factor by which dimension 0 of a call's output is larger than a micro-batch's.
  std::int64_t (*multiplier)(const Call& call);
};

constexpr Mode modes[] = {
    {OutputMode::all, 1, [](const Call& c) { return c.r * c.d * c.g; }},
    {OutputMode::every_n, 1, [](const Call& c) { return c.r * c.d * c.g; }},
    {OutputMode::every_n, 2, [](const Call& c) { return c.r * (c.d * c.g / 2); }},
    {OutputMode::every_n, 3, [](const Call& c) { return c.r * (c.d * c.g / 3); }},
    {OutputMode::final, 1, [](const Call& c) { return c.r; }},
    {OutputMode::sum, 1, [](const Call& c) { return c.r; }},
};

/// Returns the mode that `automatic` stands for.
const Mode& automatic(bool training) {
  return training ? modes[4] : modes[0];
}

/// A Numbering has a model whose output is the number of each sample minus the number of updates
/// before it. If the loss is the mean of these numbers, the gradient of the only weight is 1 in
/// every micro-batch. A loss that is not reduced has the numbers themselves, and the gradient is
/// that of their sum.
struct Numbering {
  Model model{"numbering"};
  std::string samples, mean;  ///< These are the names of the output's and of the loss's tensor.

  explicit Numbering(LossReduction reduction = LossReduction::mean) {
    const Value number = model.input("number", {1}), one = model.input("one", {1});
    Value x;
    {
      const auto block = model.block("B1");
      x = model.linear("updates", one, 1, false);
    }
    {
      const auto block = model.block("B2");
      x = model.add(number, x);
      model.output("samples", x);
      model.output("again", x);
      samples = model.tensor_name(x);
    }
    const auto block = model.block("B3");
    x = model.identity_loss(x, reduction);
    model.output("mean", x);
    mean = model.tensor_name(x);
    model.loss(x);
    model.set_weight("updates.weight", Tensor({1, 1}, {0}));
  }

  /// Returns anchors on all tensors under each of the modes: "samples0" and "mean0" have modes[0].
  std::vector<Anchor> anchors(bool training) const {
    std::vector<Anchor> all;
    for (std::size_t i = 0; i < std::size(modes); ++i) {
      const auto [mode, period, multiplier] = modes[i];
      const std::string number = std::to_string(i);
      all.push_back(
          {.name = "samples" + number, .tensor = samples, .mode = mode, .period = period});
      all.push_back({.name = "mean" + number, .tensor = mean, .mode = mode, .period = period});
      if (training)
        all.push_back({.name = "gradient" + number,
                       .tensor = "updates.weight",
                       .gradient = true,
                       .mode = mode,
                       .period = period});
    }
    return all;
  }
};

std::vector<Tensor> numbers(std::int64_t count) {
  std::vector<float> number;
  for (std::int64_t i = 0; i < count; ++i) number.push_back(static_cast<float>(i));
  const std::vector<float> one(number.size(), 1);
  return {Tensor({count, 1}, number), Tensor({count, 1}, one)};
}

/// Rounds are the numbers that a call computes, round by round. A round has one micro-batch of each
/// replica, in the order of the replicas.
using Rounds = std::vector<std::vector<float>>;

struct Computed {
  Rounds samples, mean, gradient;
};

/// Returns what a call has to compute. Samples are numbered by device iteration, then by
/// accumulation step, then by replica, then within the micro-batch.
Computed computed(const Call& call, bool training) {
  Computed all;
  float number = 0;
  for (std::int64_t iteration = 0; iteration < call.d; ++iteration)
    for (std::int64_t step = 0; step < call.g; ++step) {
      std::vector<float> samples, means;
      for (std::int64_t replica = 0; replica < call.r; ++replica) {
        const float first = number - static_cast<float>(training ? iteration : 0);
        samples.insert(samples.end(), {first, first + 1});
        means.push_back(first + 0.5f);
        number += batch;
      }
      all.samples.push_back(samples);
      all.mean.push_back(means);
      all.gradient.emplace_back(means.size(), 1.0f);
    }
  return all;
}

bool takes(const Mode& mode, std::size_t round, std::size_t rounds) {
  if (mode.mode == OutputMode::every_n)
    return (round + 1) % static_cast<std::size_t>(mode.period) == 0;
  return mode.mode == OutputMode::all || round + 1 == rounds;
}

std::vector<float> selected(const Mode& mode, const Rounds& rounds) {
  std::vector<float> result(mode.mode == OutputMode::sum ? rounds[0].size() : 0, 0);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (mode.mode == OutputMode::sum)
      for (std::size_t k = 0; k < result.size(); ++k) result[k] += rounds[i][k];
    else if (takes(mode, i, rounds.size()))
      result.insert(result.end(), rounds[i].begin(), rounds[i].end());
  }
  return result;
}

void expect(const Mode& mode, const Call& call, const Tensor& got, const Shape& one,
            const Rounds& rounds) {
  const std::int64_t multiplier = mode.multiplier(call);
  const std::string of = std::string(to_string(mode.mode)) + ' ' + std::to_string(mode.period);
  EXPECT_EQ(got.shape(), one.rank() > 0    ? one.with(0, one[0] * multiplier)
                         : multiplier == 1 ? Shape{}
                                           : Shape{multiplier})
      << of;
  const auto values = got.as<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), selected(mode, rounds)) << of;
}

/// Expects that the outputs and the loss are returned under `mode`, and each anchor under its own.
void expect_all(const Mode& mode, const Call& call, bool training, const StepResult& result) {
  const Computed all = computed(call, training);
  const Shape per_sample{batch, 1}, scalar{}, weight{1, 1};
  for (const char* name : {"samples", "again"})
    expect(mode, call, result.output(name), per_sample, all.samples);
  expect(mode, call, result.output("mean"), scalar, all.mean);
  if (training) expect(mode, call, result.loss, scalar, all.mean);
  for (std::size_t i = 0; i < std::size(modes); ++i) {
    const std::string number = std::to_string(i);
    expect(modes[i], call, result.anchor("samples" + number), per_sample, all.samples);
    expect(modes[i], call, result.anchor("mean" + number), scalar, all.mean);
    if (training) expect(modes[i], call, result.anchor("gradient" + number), weight, all.gradient);
  }
}

std::string words(const Call& call) {
  return "D " + std::to_string(call.d) + ", G " + std::to_string(call.g) + ", R " +
         std::to_string(call.r);
}

Options options_for(const Call& call) {
  Options options{.batch_size = batch, .device_iterations = static_cast<int>(call.d)};
  options.training.gradient_accumulation = static_cast<int>(call.g);
  options.topology.replication_factor = static_cast<int>(call.r);
  return options;
}

constexpr Call largest{3, 4, 2};
constexpr Call calls[] = {{1, 1, 1}, {3, 1, 1}, {1, 4, 1}, {3, 4, 1},
                          {1, 1, 2}, {3, 1, 2}, {1, 4, 2}, largest};

/// Expects that the report has said before the call which tensors the call returns, and how large
/// they are.
void expect_foretold(const CompileReport& report, const StepResult& result) {
  std::vector<NamedTensor> returned;
  if (result.loss) returned.push_back({"loss", result.loss});
  returned.insert(returned.end(), result.outputs.begin(), result.outputs.end());
  returned.insert(returned.end(), result.anchors.begin(), result.anchors.end());
  ASSERT_EQ(report.outputs.size(), returned.size());
  std::int64_t all = 0;
  for (std::size_t i = 0; i < returned.size(); ++i) {
    const auto& [kind, name, bytes] = report.outputs[i];
    EXPECT_EQ(kind == OutputKind::loss ? "loss" : name, returned[i].name);
    EXPECT_EQ(bytes, static_cast<std::int64_t>(returned[i].tensor.bytes())) << name;
    all += bytes;
  }
  EXPECT_EQ(report.output_bytes(), all);
}

StepResult train(const Call& call, const OutputOptions& output) {
  const Numbering numbering;
  Options options = options_for(call);
  options.output = output;
  options.output.anchors = numbering.anchors(true);
  TrainingModel training(numbering.model, options, Sgd{.learning_rate = 1});
  const StepResult result = training.step(numbers(options.samples_per_step()));
  expect_foretold(training.compile_report(), result);
  return result;
}

Tensor losses_of_samples(const Mode& mode) {
  const Numbering numbering(LossReduction::none);
  Options options = options_for(largest);
  options.output = {.mode = mode.mode, .period = mode.period};
  TrainingModel training(numbering.model, options, Sgd{.learning_rate = 1.0 / batch});
  const StepResult result = training.step(numbers(options.samples_per_step()));
  expect_foretold(training.compile_report(), result);
  return result.loss;
}

TEST(OutputModes, R2_2_KeepTheShapeOfALossThatIsNotReduced) {
  for (const Mode& mode : modes)
    expect(mode, largest, losses_of_samples(mode), Shape{batch, 1},
           computed(largest, true).samples);
}

TEST(OutputModes, R2_4_ReturnInTrainingWhatTheTableSaysInDataOrder) {
  for (const Call& call : calls) {
    SCOPED_TRACE(words(call));
    expect_all(automatic(true), call, true, train(call, {}));
  }
  for (const Mode& mode : modes)
    expect_all(mode, largest, true, train(largest, {.mode = mode.mode, .period = mode.period}));
}

StepResult infer(const Call& call, const OutputOptions& output) {
  const Numbering numbering;
  Options options = options_for(call);
  options.output = output;
  options.output.anchors = numbering.anchors(false);
  InferenceModel inference(numbering.model, options);
  const StepResult result = inference.run(numbers(options.samples_per_step()));
  expect_foretold(inference.compile_report(), result);
  return result;
}

TEST(OutputModes, R2_4_ReturnInInferenceWhatTheTableSaysInDataOrder) {
  for (const Call& call : calls) {
    if (call.g > 1) continue;
    SCOPED_TRACE(words(call));
    expect_all(automatic(false), call, false, infer(call, {}));
  }
  constexpr Call many{6, 1, 2};
  for (const Mode& mode : modes)
    expect_all(mode, many, false, infer(many, {.mode = mode.mode, .period = mode.period}));
}

}  // namespace
}  // namespace penstock::testing
