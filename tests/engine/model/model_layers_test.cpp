#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/model/layer_case.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using graph::Attributes;
using testing::ModelLayers;
using testing::refusal;
using Case = testing::LayerCase;
using Inputs = testing::LayerInputs;
using Integers = std::vector<std::int64_t>;

TEST_P(ModelLayers, AppendTheirNodeWithItsShapeAttributesAndParameters) {
  Model model;
  const Inputs inputs(model);
  EXPECT_EQ(model.shape(GetParam().layer(model, inputs)), GetParam().shape);
  const graph::Node& node = ModelAccess::graph(model).nodes.back();
  EXPECT_EQ(node.op->name, GetParam().op);
  EXPECT_EQ(node.attributes, GetParam().attributes);
  const auto parameters = model.parameters();
  ASSERT_EQ(parameters.size(), GetParam().parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_EQ(parameters[i].name, GetParam().parameters[i].name);
    EXPECT_EQ(parameters[i].shape, GetParam().parameters[i].shape);
    EXPECT_EQ(parameters[i].trainable, GetParam().parameters[i].trainable);
  }
}

/// A HostEnvironment restores the thread's floating-point environment at the end of a test.
class HostEnvironment {
 public:
  HostEnvironment() { std::fegetenv(&before_); }
  ~HostEnvironment() { std::fesetenv(&before_); }
  HostEnvironment(const HostEnvironment&) = delete;
  HostEnvironment& operator=(const HostEnvironment&) = delete;

 private:
  std::fenv_t before_;
};

std::vector<Tensor> first_weights(const Case& layer) {
  Model model;
  layer.layer(model, Inputs(model));
  std::vector<Tensor> weights;
  for (const ParameterInfo& parameter : model.parameters())
    weights.push_back(model.weight(parameter.name));
  return weights;
}

TEST_P(ModelLayers, StartWithTheSameBitsInEveryRoundingModeOfTheHostAndLeaveItAsItWas) {
  const std::vector<Tensor> expected = first_weights(GetParam());
  const HostEnvironment restored;
  for (const int mode : {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const std::vector<Tensor> weights = first_weights(GetParam());
    EXPECT_EQ(std::fegetround(), mode);
    ASSERT_EQ(weights.size(), expected.size());
    for (std::size_t i = 0; i < weights.size(); ++i)
      EXPECT_TRUE(testing::same_bits(weights[i], expected[i])) << "weight " << i;
  }
}

TEST(ModelLayer, ThatIsRefusedLeavesTheHostsRoundingModeAsItWas) {
  Model model;
  const Value image = model.input("image", {4, 9, 8});
  const HostEnvironment restored;
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  EXPECT_NE(refusal(Errc::shape_mismatch, [&] { model.linear("fc", image, 0); }), "accepted");
  EXPECT_NE(refusal(Errc::invalid_model, [&] { model.linear("fc", Value(), 2); }), "accepted");
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
}

TEST(ModelLayersFlatten, E8_FlattenTakesImagesWithAndWithoutATrailingDimension) {
  Model model;
  EXPECT_EQ(model.shape(model.flatten(model.input("with", {28, 28, 1}))), (Shape{1, 784}));
  EXPECT_EQ(model.shape(model.flatten(model.input("without", {28, 28}))), (Shape{1, 784}));
}

Attributes conv_attributes(std::int64_t stride, std::int64_t padding, std::int64_t dilation,
                           std::int64_t groups) {
  return {{"stride", stride}, {"padding", padding}, {"dilation", dilation}, {"groups", groups}};
}

const std::vector<Case> layers_with_parameters{
    {"conv2d",
     [](Model& m, const Inputs& in) {
       return m.conv2d("c", in.image, {.out_channels = 6, .kernel = 3});
     },
     {1, 6, 7, 6},
     conv_attributes(1, 0, 1, 1),
     {{"c.weight", {6, 4, 3, 3}}, {"c.bias", {6}}}},
    {"conv2d",
     [](Model& m, const Inputs& in) {
       return m.conv2d("c", in.image,
                       {.out_channels = 6,
                        .kernel = 3,
                        .stride = 2,
                        .padding = 3,
                        .dilation = 2,
                        .groups = 2,
                        .bias = false});
     },
     {1, 6, 6, 5},
     conv_attributes(2, 3, 2, 2),
     {{"c.weight", {6, 2, 3, 3}}}},
    {"linear",
     [](Model& m, const Inputs& in) { return m.linear("fc", in.features, 5); },
     {1, 5},
     {},
     {{"fc.weight", {5, 6}}, {"fc.bias", {5}}}},
    {"linear",
     [](Model& m, const Inputs& in) { return m.linear("fc", in.features, 5, false); },
     {1, 5},
     {},
     {{"fc.weight", {5, 6}}}},
    {"linear",
     [](Model& m, const Inputs& in) { return m.linear("fc", in.matrix, 5); },
     {1, 3, 5},
     {},
     {{"fc.weight", {5, 6}}, {"fc.bias", {5}}}},
    {"linear",
     [](Model& m, const Inputs& in) {
       return m.linear(in.image, m.parameter("w", {2, 8}, Initializer::orthogonal()));
     },
     {1, 4, 9, 2},
     {},
     {{"w", {2, 8}}}},
    {"add",
     [](Model& m, const Inputs& in) {
       return m.add(in.matrix, m.parameter("positions", {3, 6}));
     },
     {1, 3, 6},
     {},
     {{"positions", {3, 6}}}},
    {"embedding",
     [](Model& m, const Inputs& in) { return m.embedding("e", in.labels, 9, 5); },
     {1, 5},
     {},
     {{"e.weight", {9, 5}}}},
    {"embedding",
     [](Model& m, const Inputs& in) { return m.embedding("e", in.labels, 9, 5, -2); },
     {1, 5},
     {{"padding_index", std::int64_t{7}}},
     {{"e.weight", {9, 5}}}},
    {"dropout",
     [](Model& m, const Inputs& in) { return m.dropout("d", in.matrix, 0.3); },
     {1, 3, 6},
     {{"p", 0.3}}},
};

const std::vector<Case> norms{
    {"group_norm",
     [](Model& m, const Inputs& in) { return m.group_norm("n", in.image, 2, 1e-3); },
     {1, 4, 9, 8},
     {{"num_groups", std::int64_t{2}}, {"eps", 1e-3}},
     {{"n.weight", {4}}, {"n.bias", {4}}}},
    {"layer_norm",
     [](Model& m, const Inputs& in) { return m.layer_norm("n", in.image, 2); },
     {1, 4, 9, 8},
     {{"eps", 1e-5}},
     {{"n.weight", {9, 8}}, {"n.bias", {9, 8}}}},
    {"layer_norm",
     [](Model& m, const Inputs& in) { return m.layer_norm("n", in.matrix, 1, 1e-6, false); },
     {1, 3, 6},
     {{"eps", 1e-6}},
     {{"n.weight", {6}}}},
    {"batch_norm2d",
     [](Model& m, const Inputs& in) { return m.batch_norm2d("n", in.image, 1e-3, 0.2); },
     {1, 4, 9, 8},
     {{"eps", 1e-3}, {"momentum", 0.2}},
     {{"n.weight", {4}},
      {"n.bias", {4}},
      {"n.running_mean", {4}, false},
      {"n.running_var", {4}, false}}},
};

const std::vector<Case> activations{
    {"relu", [](Model& m, const Inputs& in) { return m.relu(in.features); }, {1, 6}},
    {"leaky_relu",
     [](Model& m, const Inputs& in) { return m.leaky_relu(in.features, 0.5); },
     {1, 6},
     {{"negative_slope", 0.5}}},
    {"sigmoid", [](Model& m, const Inputs& in) { return m.sigmoid(in.features); }, {1, 6}},
    {"tanh", [](Model& m, const Inputs& in) { return m.tanh(in.features); }, {1, 6}},
    {"gelu", [](Model& m, const Inputs& in) { return m.gelu(in.features); }, {1, 6}},
    {"silu", [](Model& m, const Inputs& in) { return m.silu(in.features); }, {1, 6}},
    {"softmax",
     [](Model& m, const Inputs& in) { return m.softmax(in.matrix, 2); },
     {1, 3, 6},
     {{"axis", std::int64_t{2}}}},
    {"log_softmax",
     [](Model& m, const Inputs& in) { return m.log_softmax(in.matrix); },
     {1, 3, 6},
     {{"axis", std::int64_t{1}}}},
};

const std::vector<Case> poolings{
    {"max_pool2d",
     [](Model& m, const Inputs& in) { return m.max_pool2d(in.image); },
     {1, 4, 4, 4},
     {{"kernel", std::int64_t{2}}, {"padding", std::int64_t{0}}}},
    {"avg_pool2d",
     [](Model& m, const Inputs& in) {
       return m.avg_pool2d(in.image, {.kernel = 3, .stride = 2, .padding = 1});
     },
     {1, 4, 5, 4},
     {{"kernel", std::int64_t{3}}, {"stride", std::int64_t{2}}, {"padding", std::int64_t{1}}}},
    {"global_avg_pool2d",
     [](Model& m, const Inputs& in) { return m.global_avg_pool2d(in.image); },
     {1, 4, 1, 1}},
};

const std::vector<Case> shapes{
    {"flatten", [](Model& m, const Inputs& in) { return m.flatten(in.image); }, {1, 288}},
    {"reshape",
     [](Model& m, const Inputs& in) {
       return m.reshape(in.image, {-1, 12});
     },
     {1, 24, 12},
     {{"shape", Integers{0, -1, 12}}}},
    {"transpose",
     [](Model& m, const Inputs& in) {
       return m.transpose(in.image, {0, 2, 3, 1});
     },
     {1, 9, 8, 4},
     {{"axes", Integers{0, 2, 3, 1}}}},
    {"concat",
     [](Model& m, const Inputs& in) {
       return m.concat({in.matrix, in.matrix, in.matrix}, 2);
     },
     {1, 3, 18},
     {{"axis", std::int64_t{2}}}},
    {"slice",
     [](Model& m, const Inputs& in) { return m.slice(in.image, 2, 1, 5); },
     {1, 4, 4, 8},
     {{"axis", std::int64_t{2}}, {"begin", std::int64_t{1}}, {"end", std::int64_t{5}}}},
};

const std::vector<Case> arithmetic{
    {"add", [](Model& m, const Inputs& in) { return m.add(in.matrix, in.features); }, {1, 3, 6}},
    {"sub", [](Model& m, const Inputs& in) { return m.sub(in.features, in.matrix); }, {1, 3, 6}},
    {"mul", [](Model& m, const Inputs& in) { return m.mul(in.matrix, in.matrix); }, {1, 3, 6}},
    {"scale",
     [](Model& m, const Inputs& in) { return m.scale(in.matrix, 0.25); },
     {1, 3, 6},
     {{"factor", 0.25}}},
    {"div", [](Model& m, const Inputs& in) { return m.div(in.matrix, in.features); }, {1, 3, 6}},
    {"minimum",
     [](Model& m, const Inputs& in) { return m.minimum(in.matrix, in.features); },
     {1, 3, 6}},
    {"maximum",
     [](Model& m, const Inputs& in) { return m.maximum(in.matrix, in.features); },
     {1, 3, 6}},
    {"equal",
     [](Model& m, const Inputs& in) { return m.equal(in.matrix, in.features); },
     {1, 3, 6}},
    {"less", [](Model& m, const Inputs& in) { return m.less(in.matrix, in.features); }, {1, 3, 6}},
    {"less_equal",
     [](Model& m, const Inputs& in) { return m.less_equal(in.matrix, in.features); },
     {1, 3, 6}},
    {"where",
     [](Model& m, const Inputs& in) { return m.where(in.features, in.matrix, in.features); },
     {1, 3, 6}},
    {"scale",
     [](Model& m, const Inputs& in) { return m.neg(in.matrix); },
     {1, 3, 6},
     {{"factor", -1.0}}},
    {"mul", [](Model& m, const Inputs& in) { return m.square(in.matrix); }, {1, 3, 6}},
    {"pow",
     [](Model& m, const Inputs& in) { return m.pow(in.matrix, 1.5); },
     {1, 3, 6},
     {{"exponent", 1.5}}},
    {"clamp",
     [](Model& m, const Inputs& in) { return m.clamp(in.matrix, -1, 2); },
     {1, 3, 6},
     {{"low", -1.0}, {"high", 2.0}}},
    {"abs", [](Model& m, const Inputs& in) { return m.abs(in.matrix); }, {1, 3, 6}},
    {"exp", [](Model& m, const Inputs& in) { return m.exp(in.matrix); }, {1, 3, 6}},
    {"log", [](Model& m, const Inputs& in) { return m.log(in.matrix); }, {1, 3, 6}},
    {"sqrt", [](Model& m, const Inputs& in) { return m.sqrt(in.matrix); }, {1, 3, 6}},
    {"rsqrt", [](Model& m, const Inputs& in) { return m.rsqrt(in.matrix); }, {1, 3, 6}},
    {"reciprocal", [](Model& m, const Inputs& in) { return m.reciprocal(in.matrix); }, {1, 3, 6}},
    {"sin", [](Model& m, const Inputs& in) { return m.sin(in.matrix); }, {1, 3, 6}},
    {"cos", [](Model& m, const Inputs& in) { return m.cos(in.matrix); }, {1, 3, 6}},
    {"erf", [](Model& m, const Inputs& in) { return m.erf(in.matrix); }, {1, 3, 6}},
    {"floor", [](Model& m, const Inputs& in) { return m.floor(in.matrix); }, {1, 3, 6}},
    {"ceil", [](Model& m, const Inputs& in) { return m.ceil(in.matrix); }, {1, 3, 6}},
    {"round", [](Model& m, const Inputs& in) { return m.round(in.matrix); }, {1, 3, 6}},
    {"sign", [](Model& m, const Inputs& in) { return m.sign(in.matrix); }, {1, 3, 6}},
    {"sum",
     [](Model& m, const Inputs& in) {
       return m.sum(in.image, {1, -1});
     },
     {1, 9},
     {{"axes", Integers{1, -1}}, {"keep", std::int64_t{0}}}},
    {"mean",
     [](Model& m, const Inputs& in) { return m.mean(in.image, {2}, true); },
     {1, 4, 1, 8},
     {{"axes", Integers{2}}, {"keep", std::int64_t{1}}}},
    {"amax",
     [](Model& m, const Inputs& in) { return m.amax(in.matrix, {0}); },
     {3, 6},
     {{"axes", Integers{0}}, {"keep", std::int64_t{0}}}},
    {"amin",
     [](Model& m, const Inputs& in) { return m.amin(in.matrix, {}); },
     {1, 3, 6},
     {{"axes", Integers{}}, {"keep", std::int64_t{0}}}},
    {"scale",
     [](Model& m, const Inputs& in) { return m.var(in.matrix, {2}); },
     {1, 3},
     {{"factor", 1.2}}},
    {"mean",
     [](Model& m, const Inputs& in) {
       return m.var(in.matrix, {1, 2}, false, true);
     },
     {1, 1, 1},
     {{"axes", Integers{1, 2}}, {"keep", std::int64_t{1}}}},
    {"matmul",
     [](Model& m, const Inputs& in) {
       return m.matmul(in.image, m.input("right", {4, 8, 2}));
     },
     {1, 4, 9, 2},
     {{"transpose_a", std::int64_t{0}}, {"transpose_b", std::int64_t{0}}}},
    {"matmul",
     [](Model& m, const Inputs& in) {
       return m.matmul(m.input("left", {4, 8, 6}), in.matrix, false, true);
     },
     {1, 4, 8, 3},
     {{"transpose_a", std::int64_t{0}}, {"transpose_b", std::int64_t{1}}}},
};

INSTANTIATE_TEST_SUITE_P(Parameters, ModelLayers, ::testing::ValuesIn(layers_with_parameters));
INSTANTIATE_TEST_SUITE_P(Norms, ModelLayers, ::testing::ValuesIn(norms));
INSTANTIATE_TEST_SUITE_P(Activations, ModelLayers, ::testing::ValuesIn(activations));
INSTANTIATE_TEST_SUITE_P(Poolings, ModelLayers, ::testing::ValuesIn(poolings));
INSTANTIATE_TEST_SUITE_P(Shapes, ModelLayers, ::testing::ValuesIn(shapes));
INSTANTIATE_TEST_SUITE_P(Arithmetic, ModelLayers, ::testing::ValuesIn(arithmetic));

TEST(ModelLayer, OptionsThatMakeNoSenseAreNamed) {
  Model model;
  const Inputs in(model);
  const std::vector<std::pair<const char*, std::function<void()>>> cases{
      {"conv2d \"c\": expected x of rank 4, got [1,6]",
       [&] { model.conv2d("c", in.features, {.out_channels = 1, .kernel = 1}); }},
      {"conv2d \"c\": expected out_channels of 1 or more, got 0",
       [&] { model.conv2d("c", in.image, {.kernel = 3}); }},
      {"conv2d \"c\": expected kernel of 1 or more, got -1",
       [&] { model.conv2d("c", in.image, {.out_channels = 1, .kernel = -1}); }},
      {"conv2d \"c\": expected groups of 1 or more, got 0",
       [&] { model.conv2d("c", in.image, {.out_channels = 1, .kernel = 1, .groups = 0}); }},
      {"conv2d \"c\": weight: shape: more elements than any machine holds",
       [&] { model.conv2d("c", in.image, {.out_channels = 1, .kernel = std::int64_t{1} << 62}); }},
      {"embedding \"e\": expected count of 1 or more, got 0",
       [&] { model.embedding("e", in.labels, 0, 5); }},
      {"layer_norm \"n\": expected the last 1 to 2 axes of [1,3,6], got 3",
       [&] { model.layer_norm("n", in.matrix, 3); }},
      {"max_pool2d \"max_pool2d_1\": expected stride of at least 1, got -1",
       [&] { model.max_pool2d(in.image, {.stride = -1}); }},
  };
  for (const auto& [text, layer] : cases) EXPECT_EQ(refusal(Errc::shape_mismatch, layer), text);
}

TEST(ModelLayer, ThePaddingOfAnEmbeddingStartsAsZero) {
  Model plain, padded;
  plain.embedding("e", plain.labels(), 4, 3);
  padded.embedding("e", padded.labels(), 4, 3, 1);
  const Tensor drawn = plain.weight("e.weight"), weight = padded.weight("e.weight");
  for (std::size_t i = 0; i < 12; ++i)
    EXPECT_EQ(weight.as<float>()[i], i / 3 == 1 ? 0 : drawn.as<float>()[i]) << i;
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] { padded.embedding("other", padded.labels("more"), 4, 3, 4); }),
            "embedding: expected padding_index from -4 to 3, got 4");
}

TEST(ModelLayer, RefusesAnInputWithoutElementsAndLeavesNothingBehind) {
  Model model;
  const Inputs in(model);
  const Value row = model.slice(in.features, 1, 2, 2), matrix = model.slice(in.matrix, 2, 0, 0);
  const Value channels = model.slice(in.image, 1, 4, 4), pixels = model.slice(in.image, 2, 1, 1);
  const std::vector<std::pair<const char*, std::function<void()>>> cases{
      {"conv2d \"l\": expected x with at least one element, got [1,0,9,8]",
       [&] { model.conv2d("l", channels, {.out_channels = 1, .kernel = 1}); }},
      {"conv2d \"l\": expected x with at least one element, got [1,4,0,8]",
       [&] { model.conv2d("l", pixels, {.out_channels = 1, .kernel = 1, .padding = 1}); }},
      {"linear \"l\": expected x with at least one element, got [1,0]",
       [&] { model.linear("l", row, 3); }},
      {"group_norm \"l\": expected x with at least one element, got [1,4,0,8]",
       [&] { model.group_norm("l", pixels, 2); }},
      {"layer_norm \"l\": expected x with at least one element, got [1,3,0]",
       [&] { model.layer_norm("l", matrix); }},
      {"batch_norm2d \"l\": expected x with at least one element, got [1,0,9,8]",
       [&] { model.batch_norm2d("l", channels); }},
      {"dropout \"l\": expected x with at least one element, got [1,0]",
       [&] { model.dropout("l", row, 0.5); }},
  };
  for (const auto& [text, layer] : cases) EXPECT_EQ(refusal(Errc::shape_mismatch, layer), text);
  EXPECT_TRUE(model.parameters().empty());
}

TEST(ModelLayer, RefusesNumbersThatAreNoneOrThatF32DoesNotHold) {
  Model model;
  const Inputs in(model);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { model.group_norm("n", in.image, 2, 0); }),
            "group_norm \"n\": eps: expected more than 0, got 0");
  for (const double number : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e300}) {
    const std::vector<std::function<void()>> layers{
        [&] { model.scale(in.features, number); },
        [&] { model.leaky_relu(in.features, number); },
        [&] { model.dropout("d", in.features, number); },
        [&] { model.layer_norm("l", in.features, 1, number); },
        [&] { model.batch_norm2d("b", in.image, number); },
        [&] { model.batch_norm2d("b", in.image, 1e-5, number); }};
    for (std::size_t i = 0; i < layers.size(); ++i)
      EXPECT_NE(refusal(Errc::invalid_argument, layers[i]), "accepted") << number << ", " << i;
  }
  EXPECT_TRUE(model.parameters().empty());
}

}  // namespace
}  // namespace penstock
