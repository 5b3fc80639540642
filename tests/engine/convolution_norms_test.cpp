// These tests check that inference gives the same bits whether convolutions finish their sums with
// the norm and the clamp behind them or not.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "penstock/inference_model.hpp"
#include "penstock/model.hpp"
#include "penstock/options.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using testing::same_bits;
using testing::uniform;

constexpr int batch = 3;

/// A Network has convolutions with norms and clamps in four blocks. Block "B2" begins with the norm
/// of the last convolution of block "B1", and block "B3" with the clamp of the last norm of block
/// "B2".
struct Network {
  Model model{"norms", 7};
  std::vector<std::string> layers = {};  ///< These are the names of the layers before the last.

  Value note(Value value) {
    layers.push_back(model.tensor_name(value));
    return value;
  }
  Value convolution(const std::string& name, Value x, const Conv2dOptions& options) {
    return note(model.conv2d(name, x, options));
  }
  Value norm(const std::string& name, Value x) { return note(model.batch_norm2d(name, x)); }

  Network() {
    Value x = model.input("x", {3, 14, 14}), skipped;
    {
      const auto block = model.block("B1");
      x = convolution("stem", x, {.out_channels = 40, .kernel = 3, .stride = 2, .bias = false});
      x = note(model.relu6(norm("stem.norm", x)));
      x = skipped = convolution("wide", x, {.out_channels = 48, .kernel = 1});
    }
    {
      const auto block = model.block("B2");
      x = note(model.relu(norm("wide.norm", x)));
      x = convolution("deep", x, {.out_channels = 48, .kernel = 3, .padding = 1, .groups = 48});
      x = norm("deep.norm", x);
    }
    {
      const auto block = model.block("B3");
      x = convolution("narrow", note(model.relu6(x)), {.out_channels = 48, .kernel = 1});
      x = note(model.relu(note(model.add(norm("narrow.norm", x), skipped))));
    }
    const auto block = model.block("B4");
    x = convolution("last", x, {.out_channels = 33, .kernel = 3, .stride = 2});
    model.output("y", model.relu6(norm("last.norm", x)));
    for (const ParameterInfo& info : model.parameters())
      if (info.name.find("norm.") != std::string::npos)
        model.set_weight(info.name, uniform(info.shape, info.name.size(), 0.5, 1.5));
  }

  Tensor outcome(const std::string& stages, int threads, bool anchored = false) const {
    Options options{.batch_size = batch, .device_iterations = 2};
    options.topology.stages = parse_stages(stages);
    options.topology.threads_per_ipu = threads;
    if (anchored)
      for (const std::string& layer : layers)
        options.output.anchors.push_back({.name = layer, .tensor = layer});
    InferenceModel inference(model, options);
    return inference.run({uniform({2 * batch, 3, 14, 14}, 1)}).output("y");
  }
};

TEST(ConvolutionNorms, HaveTheSameBitsOnEveryTopologyAndWithoutFusion) {
  const Network network;
  const Tensor expected = network.outcome("B1,B2,B3,B4", 1, true);
  EXPECT_TRUE(std::ranges::any_of(expected.as<float>(), [](float y) { return y > 0 && y < 6; }));
  for (const char* stages : {"B1,B2,B3,B4", "B1,B2|B3,B4", "B1|B2,B3,B4", "B1|B2|B3|B4"})
    for (const int threads : {1, 2, 3})
      EXPECT_TRUE(same_bits(network.outcome(stages, threads), expected))
          << stages << ", " << threads << " threads";
}

TEST(ConvolutionNorms, AreTimedAsTheirConvolution) {
  const Network network;
  Options options{.batch_size = batch};
  options.topology.stages = parse_stages("B1,B2,B3,B4");
  options.runtime.trace = true;
  InferenceModel inference(network.model, options);
  inference.run({uniform({batch, 3, 14, 14}, 1)});
  std::vector<std::string> timed;
  for (const OpProfile& op : inference.profile().ops) timed.push_back(op.name);
  EXPECT_EQ(std::ranges::count(timed, "stem"), 1);
  EXPECT_EQ(std::ranges::count(timed, "stem.norm"), 0);
  EXPECT_EQ(std::ranges::count(timed, "wide.norm"), 1);
}

}  // namespace
}  // namespace penstock
