#include "apps/networks/gpt.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "tests/support/refusal.hpp"

namespace penstock::networks {
namespace {

TEST(GptNetwork, HasTheParametersAndTheFirstWeightsOfNanoGpt) {
  const Model model = gpt({}, 1);
  std::set<std::string> names;
  std::int64_t count = 0;
  for (const ParameterInfo& parameter : model.parameters()) {
    names.insert(parameter.name);
    count += parameter.shape.elements();
    double squares = 0;
    const Tensor weight = model.weight(parameter.name);
    for (const float element : weight.as<float>()) squares += double{element} * double{element};
    const double std = std::sqrt(squares / static_cast<double>(weight.elements()));
    const bool is_norm = parameter.name.find("ln_") != std::string::npos;
    const bool is_projection = parameter.name.find("proj") != std::string::npos;
    const double expected = is_norm ? 1 : is_projection ? 0.02 / std::sqrt(8) : 0.02;
    EXPECT_NEAR(std / expected, 1, 0.03) << parameter.name;
  }
  EXPECT_EQ(count, 65 * 128 + 64 * 128 + 4 * (12 * 128 * 128 + 2 * 128) + 128);
  for (const char* name : {"wte.weight", "wpe.weight", "h.0.ln_1.weight", "h.0.attn.qkv.weight",
                           "h.0.attn.proj.weight", "h.0.ln_2.weight", "h.3.mlp.fc.weight",
                           "h.3.mlp.proj.weight", "ln_f.weight"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_EQ(names.size(), 2U + 4U * 6U + 1U) << "the head has no weight of its own";
}

TEST(GptNetwork, IsInBlocksOfItsLayers) {
  std::set<std::string> blocks;
  for (const LayerStage& layer : gpt({.layers = 2}, 1).stage_assignment())
    blocks.insert(layer.block);
  EXPECT_EQ(blocks, (std::set<std::string>{"embed", "h.0", "h.1", "head"}));
}

TEST(GptNetwork, RefusesSizesThatAreOutOfRange) {
  const auto refused = [](const GptOptions& options) {
    return testing::refusal(Errc::invalid_argument, [&] { gpt(options, 0); });
  };
  EXPECT_EQ(refused({.layers = 0}), "gpt: expected 1 layer or more, got 0");
  EXPECT_EQ(refused({.heads = 0}), "gpt: expected 1 head or more, got 0");
  EXPECT_EQ(refused({.heads = 3}), "gpt: expected a width that is a multiple of 3 heads, got 128");
  EXPECT_EQ(refused({.context = 0}), "gpt: expected a context of 1 token or more, got 0");
  EXPECT_EQ(refused({.vocabulary = 0}), "gpt: expected a vocabulary of 1 token or more, got 0");
}

}  // namespace
}  // namespace penstock::networks
