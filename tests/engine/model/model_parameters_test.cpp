#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/model/layer_case.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using testing::refusal;
using Inputs = testing::LayerInputs;

TEST(ModelParameters, StartLikePyTorchs) {
  Model model;
  const Inputs in(model);
  model.conv2d("c", in.image, {.out_channels = 60, .kernel = 5, .padding = 2, .groups = 4});
  model.linear("fc", in.features, 600);
  const std::vector<std::pair<const char*, double>> bounds{{"c.weight", 1 / std::sqrt(25)},
                                                           {"c.bias", 1 / std::sqrt(25)},
                                                           {"fc.weight", 1 / std::sqrt(6)},
                                                           {"fc.bias", 1 / std::sqrt(6)}};
  for (const auto& [name, bound] : bounds) {
    double most = 0, sum = 0, squares = 0;
    const Tensor weight = model.weight(name);
    for (const float value : weight.as<float>()) {
      most = std::max(most, std::abs(double{value}));
      sum += value;
      squares += double{value} * value;
    }
    EXPECT_LE(most, bound * (1 + 1e-6)) << name;
    EXPECT_GT(most, bound * 0.9) << name;
    // The numbers are uniform between the bounds: the mean is 0, the variance a third of the
    // bound's square.
    const auto count = static_cast<double>(weight.as<float>().size());
    EXPECT_NEAR(sum / count, 0, 3 * bound / std::sqrt(3 * count)) << name;
    EXPECT_NEAR(squares / count, bound * bound / 3, 1.2 * bound * bound / std::sqrt(count)) << name;
  }
}

TEST(ModelParameters, OfAnEmbeddingStartNormal) {
  Model model;
  model.embedding("e", model.labels(), 100, 50);
  double squares = 0;
  const Tensor weight = model.weight("e.weight");
  for (const float value : weight.as<float>()) squares += double{value} * double{value};
  EXPECT_NEAR(squares / 5000, 1, 0.1);
}

TEST(ModelParameters, OfNormsStartAsTheIdentity) {
  Model model;
  model.batch_norm2d("n", Inputs(model).image);
  const std::vector<std::pair<const char*, float>> values{
      {"n.weight", 1.f}, {"n.bias", 0.f}, {"n.running_mean", 0.f}, {"n.running_var", 1.f}};
  for (const auto& [name, value] : values) {
    const Tensor weight = model.weight(name);
    for (const float element : weight.as<float>()) EXPECT_EQ(element, value) << name;
  }
}

TEST(ModelParameters, MayBelongToNoLayer) {
  Model model("m");
  const Value p = model.parameter("p", {2, 3}, Initializer::constant(0.5));
  EXPECT_EQ(model.shape(p), (Shape{2, 3}));
  EXPECT_EQ(model.shape(model.parameter("p")), (Shape{2, 3}));
  ASSERT_EQ(model.parameters().size(), 1U);
  EXPECT_TRUE(model.parameters()[0].trainable);
  const Tensor weight = model.weight("p");
  for (const float element : weight.as<float>()) EXPECT_EQ(element, 0.5f);
  EXPECT_NE(refusal(Errc::invalid_model, [&] { model.parameter("p", {1}); }), "accepted");
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      model.parameter("q", {3, 0});
                    }),
            "parameter \"q\": expected a tensor with at least one element, got f32[3,0]");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] { model.parameter("q", {3}, Initializer::xavier_normal()); }),
            "parameter \"q\": xavier_normal: expected a parameter of rank 2 or more, got [3]");
  EXPECT_EQ(model.parameters().size(), 1U);
}

TEST(ModelParameters, AreInitializedAnewByAPatternOfNames) {
  Model model("m");
  const Inputs in(model);
  Value x = model.linear("h.0.fc", in.features, 4);
  x = model.linear("h.1.fc", x, 4);
  model.batch_norm2d("n", in.image);
  const auto all = [&](const std::string& name, float expected) {
    const Tensor weight = model.weight(name);
    return std::ranges::all_of(weight.as<float>(),
                               [&](float element) { return element == expected; });
  };
  const Tensor bias = model.weight("h.0.fc.bias");
  model.initialize("h.*.weight", Initializer::constant(3));
  EXPECT_TRUE(all("h.0.fc.weight", 3));
  EXPECT_TRUE(all("h.1.fc.weight", 3));
  EXPECT_TRUE(testing::same_bits(model.weight("h.0.fc.bias"), bias));
  // The first weights are drawn as if the layer had had this initializer from the start.
  const double bound = 1 / std::sqrt(6);
  model.initialize("h.0.fc.bias", Initializer::uniform(-bound, bound));
  EXPECT_TRUE(testing::same_bits(model.weight("h.0.fc.bias"), bias));

  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] { model.initialize("h.*.weights", Initializer::constant(1)); }),
            "model \"m\": there is no parameter \"h.*.weights\"; there are: h.0.fc.weight, "
            "h.0.fc.bias, h.1.fc.weight, h.1.fc.bias, n.weight, n.bias");
  EXPECT_NE(
      refusal(Errc::invalid_argument, [&] { model.initialize("*", Initializer::orthogonal()); }),
      "accepted")
      << "biases have no rows";
  EXPECT_TRUE(all("h.1.fc.weight", 3)) << "what was refused has changed nothing";
  EXPECT_NE(refusal(Errc::invalid_argument,
                    [&] { model.initialize("*mean*", Initializer::constant(1)); }),
            "accepted")
      << "buffers are no parameters";
}

TEST(ModelParameters, MayBeUsedByOtherLayersToo) {
  Model model;
  const Inputs in(model);
  model.batch_norm2d("n", in.image);
  const Value hidden = model.linear("fc", in.features, 4);
  const std::size_t parameters = model.parameters().size();
  EXPECT_EQ(
      refusal(Errc::shape_mismatch, [&] { model.linear(hidden, model.parameter("fc.weight")); }),
      "linear \"linear_2\": expected 6 input features, got 4");
  const Value again = model.linear(in.features, model.parameter("fc.weight"));
  EXPECT_EQ(model.shape(again), (Shape{1, 4}));
  EXPECT_EQ(model.shape(model.parameter("fc.bias")), (Shape{4}));
  EXPECT_EQ(model.parameters().size(), parameters);
  const auto& nodes = ModelAccess::graph(model).nodes;
  EXPECT_EQ(nodes.back().inputs[1], nodes[nodes.size() - 2].inputs[1]);
  const std::string list = "; there are: n.weight, n.bias, fc.weight, fc.bias";
  const std::vector<std::pair<std::string, std::string>> unknown{
      {"fc", list}, {"fc.weights", "; did you mean \"fc.weight\"?"}, {"n.running_mean", list}};
  for (const auto& [name, instead] : unknown)
    EXPECT_EQ(refusal(Errc::invalid_argument, [&] { model.parameter(name); }),
              "model \"model\": there is no parameter \"" + name + '"' + instead);
}

}  // namespace
}  // namespace penstock
