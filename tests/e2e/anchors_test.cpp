// 2.4 of docs/reference.md: these tests check anchors, which are tensors within a model, and
// gradients, that calls return besides the outputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t classes = 3;

/// A Network has a model of four blocks with a skip connection between two of them. Its
/// convolutions work on 16 samples at once. The first one is fused with its pooling and relu unless
/// an anchor asks for a tensor between them.
struct Network {
  Model model{"anchored", 1};
  /// These are the names of all layers that lead to the loss.
  std::vector<std::string> layers = {};

  Value note(Value value) {
    layers.push_back(model.tensor_name(value));
    return value;
  }

  Network() {
    Value x = model.input("x", {1, 12, 12});
    const Value labels = model.labels();
    Value skipped;
    {
      const auto block = model.block("B1");
      x = note(model.conv2d("conv1", x, {.out_channels = 4, .kernel = 3}));
      x = note(model.relu(note(model.max_pool2d(x))));
    }
    {
      const auto block = model.block("B2");
      x = skipped = note(model.relu(
          note(model.conv2d("conv2", x, {.out_channels = 4, .kernel = 3, .padding = 1}))));
    }
    {
      const auto block = model.block("B3");
      x = note(model.conv2d("conv3", x, {.out_channels = 4, .kernel = 3, .padding = 1}));
      x = note(model.add(x, skipped));
    }
    const auto block = model.block("B4");
    x = note(model.linear("fc", note(model.flatten(x)), classes));
    model.output("logits", x);
    model.loss(note(model.cross_entropy(x, labels)));
  }
};

std::vector<Tensor> samples(std::int64_t count) {
  std::vector<float> pixels;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    labels.push_back(i % classes);
    for (int k = 0; k < 144; ++k)
      pixels.push_back(static_cast<float>((i * 31 + k * 17) % 23) / 11.5f - 1.0f);
  }
  return {Tensor({count, 1, 12, 12}, pixels), Tensor({count}, labels)};
}

Options options_for(int batch, int accumulation, int iterations, int replicas = 1) {
  Options options{.batch_size = batch, .device_iterations = iterations};
  options.training.gradient_accumulation = accumulation;
  options.topology.replication_factor = replicas;
  options.output.mode = OutputMode::all;
  return options;
}

std::vector<float> values(const Tensor& tensor) {
  const auto span = tensor.as<float>();
  return {span.begin(), span.end()};
}

void expect_near(const std::vector<float>& got, const std::vector<float>& expected,
                 const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], 1e-6f + 1e-5f * std::abs(expected[i])) << what << ' ' << i;
}

/// Returns an anchor on every layer, on every layer's gradient and on every parameter's gradient.
std::vector<Anchor> all_anchors(const Network& network) {
  std::vector<Anchor> anchors;
  for (const std::string& layer : network.layers) {
    anchors.push_back({.name = layer, .tensor = layer});
    anchors.push_back({.name = "gradient of " + layer, .tensor = layer, .gradient = true});
  }
  for (const ParameterInfo& parameter : network.model.parameters())
    anchors.push_back({.name = parameter.name, .tensor = parameter.name, .gradient = true});
  return anchors;
}

/// Returns the sum of each channel of a tensor [N,C,...], over all other axes.
std::vector<float> channel_sums(const Tensor& tensor) {
  const auto channels = static_cast<std::size_t>(tensor.shape()[1]);
  const auto all = values(tensor);
  const std::size_t pixels = all.size() / channels / static_cast<std::size_t>(tensor.shape()[0]);
  std::vector<double> sums(channels, 0);
  for (std::size_t i = 0; i < all.size(); ++i) sums[i / pixels % channels] += all[i];
  return {sums.begin(), sums.end()};
}

TEST(Anchors, R2_4_GradientsAreThoseOfTheLoss) {
  const Network network;
  constexpr int batch = 12;
  Options options = options_for(batch, 1, 1);
  options.output.anchors = all_anchors(network);
  const Tensor bias = network.model.weight("conv1.bias");
  TrainingModel training(network.model, options, Sgd{.learning_rate = 1});
  ASSERT_GT(training.compile_report().lanes, 0);
  const auto step = samples(batch);
  const StepResult result = training.step(step);

  const auto logits = values(result.output("logits"));
  std::vector<float> expected;
  for (std::size_t row = 0; row < batch; ++row) {
    double sum = 0;
    for (std::size_t k = 0; k < classes; ++k) sum += std::exp(logits[row * classes + k]);
    for (std::size_t k = 0; k < classes; ++k) {
      const bool right = static_cast<std::int64_t>(k) == step[1].as<std::int64_t>()[row];
      const double softmax = std::exp(logits[row * classes + k]) / sum;
      expected.push_back(static_cast<float>((softmax - (right ? 1 : 0)) / batch));
    }
  }
  expect_near(values(result.anchor("gradient of fc")), expected, "fc");
  for (const char* layer : {"conv1", "conv2", "conv3"})
    expect_near(channel_sums(result.anchor(std::string("gradient of ") + layer)),
                values(result.anchor(std::string(layer) + ".bias")), layer);
  const auto after = values(network.model.weight("conv1.bias"));
  auto moved = values(bias);
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] -= after[i];
  expect_near(moved, values(result.anchor("conv1.bias")), "conv1.bias after an update");
}

TEST(Anchors, R2_4_OfAParameterAverageToTheGradientOfTheUpdate) {
  const Network network;
  Options options = options_for(2, 3, 1, 2);
  options.output.anchors = {{.name = "g", .tensor = "fc.weight", .gradient = true}};
  const auto before = values(network.model.weight("fc.weight"));
  TrainingModel training(network.model, options, Sgd{.learning_rate = 1});
  const auto gradients = values(training.step(samples(12)).anchor("g"));
  const auto after = values(network.model.weight("fc.weight"));
  ASSERT_EQ(gradients.size(), 6 * before.size());
  std::vector<float> mean(before.size(), 0), moved;
  for (std::size_t i = 0; i < gradients.size(); ++i) mean[i % mean.size()] += gradients[i] / 6;
  for (std::size_t i = 0; i < before.size(); ++i) moved.push_back(before[i] - after[i]);
  expect_near(moved, mean, "fc.weight");
}

TEST(Anchors, R2_4_OfASharedParameterAddUpItsUsesInAllStages) {
  Model model("tied", 2);
  Value x = model.input("x", {1, 12, 12});
  {
    const auto block = model.block("B1");
    x = model.relu(model.linear("first", model.flatten(x), 144));
  }
  {
    const auto block = model.block("B2");
    x = model.relu(model.linear(x, model.parameter("first.weight")));
  }
  const auto block = model.block("B3");
  x = model.linear("last", model.linear(x, model.parameter("first.weight")), classes);
  model.loss(model.cross_entropy(x, model.labels()));
  Options options = options_for(3, 2, 1);
  options.output.anchors = {{.name = "g", .tensor = "first.weight", .gradient = true}};
  const auto before = values(model.weight("first.weight"));
  TrainingModel training(model, options, Sgd{.learning_rate = 1});
  ASSERT_EQ(training.stage_reports().size(), 3U);
  const auto gradients = values(training.step(samples(6)).anchor("g"));
  const auto after = values(model.weight("first.weight"));
  ASSERT_EQ(gradients.size(), 2 * before.size());
  std::vector<float> mean, moved;
  for (std::size_t i = 0; i < before.size(); ++i) {
    mean.push_back((gradients[i] + gradients[before.size() + i]) / 2);
    moved.push_back(before[i] - after[i]);
  }
  EXPECT_GT(*std::ranges::max_element(moved), 1e-3f);
  expect_near(moved, mean, "first.weight");
}

TEST(Anchors, R2_4_GradientsAreScaledAsTheLossIs) {
  const auto gradient = [](double scaling) {
    const Network network;
    Options options = options_for(2, 1, 1);
    options.output.anchors = {{.name = "g", .tensor = "conv2", .gradient = true}};
    Optimizer optimizer = Sgd{};
    optimizer.loss_scaling = scaling;
    return values(TrainingModel(network.model, options, optimizer).step(samples(2)).anchor("g"));
  };
  auto expected = gradient(1);
  for (float& value : expected) value *= 8;
  EXPECT_EQ(gradient(8), expected);
}

struct Trained {
  std::vector<Tensor> weights;
  StepResult last;
};

/// Trains in two calls of two updates of four micro-batches each. A micro-batch has 12 samples,
/// which the batch-lane layout pads to 16.
Trained trained(Options options, bool anchored) {
  const Network network;
  options.batch_size = 12;
  options.device_iterations = 2;
  options.training.gradient_accumulation = 4;
  options.output.mode = OutputMode::all;
  if (anchored) options.output.anchors = all_anchors(network);
  TrainingModel training(network.model, options, AdamW{.learning_rate = 0.01});
  Trained result;
  const auto all = samples(2 * options.samples_per_step());
  for (const std::int64_t begin : {std::int64_t{0}, options.samples_per_step()})
    result.last = training.step({all[0].rows(begin, begin + options.samples_per_step()),
                                 all[1].rows(begin, begin + options.samples_per_step())});
  for (const ParameterInfo& parameter : network.model.parameters())
    result.weights.push_back(network.model.weight(parameter.name));
  return result;
}

std::vector<Options> topologies() {
  std::vector<Options> all;
  for (const char* stages : {"B1,B2,B3,B4", "B1,B2|B3,B4", "B1|B2|B3|B4"})
    for (const PipelineSchedule schedule :
         {PipelineSchedule::grouped, PipelineSchedule::interleaved, PipelineSchedule::sequential})
      for (const bool recompute : {false, true}) {
        Options options;
        options.topology.stages = parse_stages(stages);
        options.topology.schedule = schedule;
        options.training.recompute = recompute;
        all.push_back(options);
      }
  return all;
}

TEST(Anchors, R2_4_ChangeNoBitAndAreTheSameBitsOnEveryTopology) {
  const Trained plain = trained({}, false), reference = trained(topologies()[0], true);
  ASSERT_EQ(plain.weights.size(), 8U);
  EXPECT_GT(reference.last.anchors.size(), 25U);
  for (const Options& options : topologies()) {
    const Trained anchored = trained(options, true);
    for (std::size_t i = 0; i < plain.weights.size(); ++i)
      EXPECT_TRUE(same_bits(anchored.weights[i], plain.weights[i])) << i;
    EXPECT_TRUE(same_bits(anchored.last.loss, plain.last.loss));
    ASSERT_EQ(anchored.last.anchors.size(), reference.last.anchors.size());
    for (std::size_t i = 0; i < reference.last.anchors.size(); ++i)
      EXPECT_TRUE(same_bits(anchored.last.anchors[i].tensor, reference.last.anchors[i].tensor))
          << reference.last.anchors[i].name;
  }
}

TEST(Anchors, R2_4_OfACallOfAnySizeAreThoseOfItsSamples) {
  const Network network;
  Options options = options_for(4, 1, 2);
  options.output.anchors = {{.name = "a", .tensor = "conv2"}};
  InferenceModel inference(network.model, options);
  const Tensor x = samples(8)[0];
  const auto expected = values(inference.run({x}).anchor("a"));
  for (std::int64_t count = 1; count < 8; ++count) {
    const Tensor part = inference.run({x.rows(0, count)}).anchor("a");
    ASSERT_EQ(part.shape(), (Shape{count, 4, 5, 5}));
    expect_near(values(part), {expected.begin(), expected.begin() + count * 100}, "conv2");
  }
}

TEST(Anchors, R2_4_AreRefusedByNumberIfThereIsNoSuchTensor) {
  const Network network;
  const auto training_refusal = [&](const Anchor& anchor) {
    Options options = options_for(2, 1, 1);
    options.topology.stages = {Stage{"B1", "B2", "B3", "B4"}};
    options.output.anchors = {{.name = "good", .tensor = "fc"}, anchor};
    return refusal(Errc::invalid_argument,
                   [&] { TrainingModel(network.model, options, Sgd{}).step(samples(2)); });
  };
  const std::string head = "options.output.anchors[1]: expected the name of a layer";
  EXPECT_EQ(training_refusal({.name = "a", .tensor = "conv9"}),
            head + ", got \"conv9\": the model has no tensor of that name");
  EXPECT_EQ(training_refusal({.name = "a", .tensor = "x"}),
            head + ", got \"x\": it is an input, which the host has already");
  EXPECT_EQ(training_refusal({.name = "a", .tensor = "fc.bias"}),
            head + ", got \"fc.bias\": it is a parameter, which the model gives by Model::weight");
  EXPECT_EQ(training_refusal({.name = "a", .tensor = "x", .gradient = true}),
            head + " or a parameter, got \"x\": it is an input, whose gradient nobody computes");
  EXPECT_EQ(training_refusal({.name = "good", .tensor = "fc"}),
            "options.output.anchors[1].name: expected a name of its own, got \"good\"");
  EXPECT_EQ(training_refusal({.name = "a"}),
            "options.output.anchors[1].tensor: expected a layer's name, got \"\"");
  EXPECT_EQ(training_refusal({.name = "a", .tensor = "fc", .period = 0}),
            "options.output.anchors[1].period: expected 1 or more, got 0");
  EXPECT_EQ(training_refusal({.name = "a", .tensor = "fc"}), "accepted");
}

TEST(Anchors, R2_4_HaveNoGradientsInInferenceOrWhereTheLossDoesNotReach) {
  Network network;
  Options options = options_for(2, 1, 1);
  options.output.anchors = {{.name = "a", .tensor = "fc", .gradient = true}};
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { InferenceModel(network.model, options); }),
            "options.output.anchors[0].gradient: expected false, for inference computes no "
            "gradients, got true");
  Model model("aside");
  const Value x = model.input("x", {2});
  model.linear("aside", x, 2);
  model.loss(model.cross_entropy(model.linear("fc", x, 2), model.labels()));
  options.output.anchors[0].tensor = "aside";
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { TrainingModel(model, options, Sgd{}); }),
            "options.output.anchors[0]: expected what the loss depends on, got \"aside\"");
  options.output.anchors[0].gradient = false;
  TrainingModel training(model, options, Sgd{});
  const std::vector<float> x_values(4, 1);
  const std::vector<std::int64_t> labels(2, 0);
  EXPECT_EQ(training.step({Tensor({2, 2}, x_values), Tensor({2}, labels)}).anchor("a").shape(),
            (Shape{2, 2}));
}

// The loss is sum(x·w·w + 3·x·w), so the gradient in w is 2·w·x + 3·x. A node reads w twice to
// compute w·w, and another one reads w once.
TEST(Anchors, R2_4_GradientsOfAParameterAreThoseOfAllItsReadersEvenOfOne) {
  Model model("squares");
  const Value x = model.input("x", {2});
  const Value linear = model.linear("fc", x, 2, false), w = model.parameter("fc.weight");
  const Value squares = model.linear(x, model.mul(w, w));
  model.loss(model.identity_loss(model.add(squares, model.scale(linear, 3)), LossReduction::sum));
  model.set_weight("fc.weight", Tensor({2, 2}, {1.0f, -2.0f, 0.5f, 4.0f}));
  Options options = options_for(1, 1, 1);
  options.training.reduction = Reduction::sum;
  options.output.anchors = {{.name = "a", .tensor = "fc.weight", .gradient = true}};
  TrainingModel training(model, options, Sgd{.learning_rate = 0.5});
  const Tensor gradient = training.step({Tensor({1, 2}, {1.0f, 10.0f})}).anchor("a");
  expect_near(values(gradient), {5, -10, 4, 110}, "2·w·x + 3·x");
}

}  // namespace
}  // namespace penstock::testing
