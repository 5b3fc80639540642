// These tests train a network of depthwise and pointwise convolutions with batch norms, which works
// in the batch-lane layout, and compare the bits of topologies and the numbers of layouts.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t batch = 32, channels = 12;

/// Returns a network whose images are `width` pixels wide. Images of more than 32 pixels do not
/// make a depthwise convolution choose the batch-lane layout.
Model network(std::int64_t width) {
  Model model("separable", 2);
  Value x = model.input("x", {channels, 6, width});
  const Value labels = model.labels();
  for (const std::string name : {"one", "two"}) {
    const auto block = model.block(name);
    x = model.conv2d(name + ".each", x,
                     {.out_channels = channels, .kernel = 3, .padding = 1, .groups = channels});
    x = model.relu(model.batch_norm2d(name + ".each.norm", x));
    x = model.conv2d(name + ".mixed", x, {.out_channels = channels, .kernel = 1, .bias = false});
    x = model.relu(model.batch_norm2d(name + ".mixed.norm", x));
  }
  const auto block = model.block("head");
  const Value logits = model.linear("fc", model.flatten(model.global_avg_pool2d(x)), 4);
  model.loss(model.cross_entropy(logits, labels));
  model.output("logits", logits);
  return model;
}

std::vector<Tensor> samples(std::int64_t width) {
  std::vector<float> pixels;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < batch * channels * 6 * width; ++i)
    pixels.push_back(std::sin(static_cast<float>(i % 1009) * static_cast<float>(i % 13)));
  for (std::int64_t i = 0; i < batch; ++i) labels.push_back(i % 4);
  return {Tensor({batch, channels, 6, width}, pixels), Tensor({batch}, labels)};
}

/// Returns the network after three updates.
Model trained(const Options& options, std::int64_t width) {
  const Model model = network(width);
  TrainingModel training(model, options, AdamW{.learning_rate = 0.01});
  for (int update = 0; update < 3; ++update) training.step(samples(width));
  return model;
}

TEST(SeparableConvolutions, HaveTheSameBitsInEveryTopology) {
  const Options one{.batch_size = batch};
  const Model expected = trained(one, 5);
  Options two = one, threads = one, anchored = one;
  two.topology.stages = parse_stages("one|two,head");
  two.training.recompute = true;
  threads.topology.threads_per_ipu = 2;
  anchored.output.anchors = {{.name = "each", .tensor = "one.each"},
                             {.name = "norm", .tensor = "one.each.norm"}};
  for (const Options& options : {two, threads, anchored}) {
    const Model model = trained(options, 5);
    for (const ParameterInfo& info : expected.parameters())
      EXPECT_TRUE(same_bits(model.weight(info.name), expected.weight(info.name))) << info.name;
  }
}

TEST(SeparableConvolutions, WorkInLanes) {
  const TrainingModel narrow(network(5), {.batch_size = batch});
  EXPECT_EQ(narrow.compile_report().lanes, batch);
}

/// Returns the loss of each of some updates by the micro-batch of `copies` copies of each sample.
std::vector<double> losses(std::int64_t copies) {
  const std::vector<Tensor> once = samples(5);
  std::vector<float> pixels;
  std::vector<std::int64_t> labels;
  const auto image = static_cast<std::size_t>(once[0].elements() / batch);
  for (std::int64_t copy = 0; copy < copies; ++copy)
    for (std::size_t i = 0; i < 8; ++i) {
      const auto of_sample = once[0].as<float>().subspan(i * image, image);
      pixels.insert(pixels.end(), of_sample.begin(), of_sample.end());
      labels.push_back(once[1].as<std::int64_t>()[i]);
    }
  const Model model = network(5);
  TrainingModel training(model, {.batch_size = static_cast<int>(8 * copies)},
                         Sgd{.learning_rate = 0.1});
  std::vector<double> result;
  for (int update = 0; update < 4; ++update)
    result.push_back(
        training.step({Tensor({8 * copies, channels, 6, 5}, pixels), Tensor({8 * copies}, labels)})
            .mean_loss);
  return result;
}

// A micro-batch of 8 samples works without lanes, and one of 16 with lanes. If it has each of these
// samples twice, it has the same statistics, losses and mean gradients.
TEST(SeparableConvolutions, HaveTheSameNumbersWithLanesAndWithout) {
  const std::vector<double> plain = losses(1), lanes = losses(2);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(lanes[i], plain[i], 1e-4) << i;
}

}  // namespace
}  // namespace penstock::testing
