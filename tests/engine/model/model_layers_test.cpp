#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <functional>
#include <optional>
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

const std::vector<Case> layers_with_slopes_and_masks{
    {"linear",
     [](Model& m, const Inputs& in) {
       return m.multi_head_attention("a", in.matrix, {.heads = 2});
     },
     {1, 3, 6},
     {},
     {{"a.in_proj_weight", {18, 6}},
      {"a.in_proj_bias", {18}},
      {"a.out_proj.weight", {6, 6}},
      {"a.out_proj.bias", {6}}}},
    {"prelu",
     [](Model& m, const Inputs& in) { return m.prelu("p", in.features); },
     {1, 6},
     {},
     {{"p.weight", {1}}}},
    {"prelu",
     [](Model& m, const Inputs& in) { return m.prelu("p", in.image, 4, 0.5); },
     {1, 4, 9, 8},
     {},
     {{"p.weight", {4}}}},
    {"dropout",
     [](Model& m, const Inputs& in) { return m.dropout1d("d", in.matrix, 0.2); },
     {1, 3, 6},
     {{"p", 0.2}, {"channels", std::int64_t{1}}}},
    {"dropout",
     [](Model& m, const Inputs& in) { return m.dropout2d("d", in.image, 0.2); },
     {1, 4, 9, 8},
     {{"p", 0.2}, {"channels", std::int64_t{1}}}},
    {"dropout",
     [](Model& m, const Inputs&) {
       return m.dropout3d("d", m.input("volume", {2, 3, 4, 5}), 0.2);
     },
     {1, 2, 3, 4, 5},
     {{"p", 0.2}, {"channels", std::int64_t{1}}}},
    {"dropout",
     [](Model& m, const Inputs& in) { return m.alpha_dropout("d", in.features, 0.2); },
     {1, 6},
     {{"p", 0.2}, {"alpha", std::int64_t{1}}}},
    {"dropout",
     [](Model& m, const Inputs& in) { return m.feature_alpha_dropout("d", in.image, 0.2); },
     {1, 4, 9, 8},
     {{"p", 0.2}, {"channels", std::int64_t{1}}, {"alpha", std::int64_t{1}}}},
    {"linear",
     [](Model& m, const Inputs& in) {
       return m.linear(in.features, m.weight_norm("fc", {5, 6}));
     },
     {1, 5},
     {},
     {{"fc.weight_v", {5, 6}}, {"fc.weight_g", {5, 1}}}},
    {"mul",
     [](Model& m, const Inputs&) {
       return m.weight_norm("c", {5, 4, 3, 3}, 1);
     },
     {5, 4, 3, 3},
     {},
     {{"c.weight_v", {5, 4, 3, 3}}, {"c.weight_g", {1, 4, 1, 1}}}},
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
    {"layer_norm",
     [](Model& m, const Inputs& in) { return m.layer_norm("n", in.matrix, 1, 1e-6, true, false); },
     {1, 3, 6},
     {{"eps", 1e-6}}},
    {"rms_norm",
     [](Model& m, const Inputs& in) { return m.rms_norm("n", in.image, 2); },
     {1, 4, 9, 8},
     {{"eps", 0x1p-23}},
     {{"n.weight", {9, 8}}}},
    {"rms_norm",
     [](Model& m, const Inputs& in) { return m.rms_norm("n", in.matrix, 1, 1e-6, false); },
     {1, 3, 6},
     {{"eps", 1e-6}}},
    {"group_norm",
     [](Model& m, const Inputs& in) { return m.group_norm("n", in.image, 2, 1e-5, false); },
     {1, 4, 9, 8},
     {{"num_groups", std::int64_t{2}}, {"eps", 1e-5}}},
    {"group_norm",
     [](Model& m, const Inputs& in) { return m.instance_norm("n", in.matrix); },
     {1, 3, 6},
     {{"num_groups", std::int64_t{3}}, {"eps", 1e-5}}},
    {"group_norm",
     [](Model& m, const Inputs& in) { return m.instance_norm("n", in.image, 1e-3, true); },
     {1, 4, 9, 8},
     {{"num_groups", std::int64_t{4}}, {"eps", 1e-3}},
     {{"n.weight", {4}}, {"n.bias", {4}}}},
    {"batch_norm",
     [](Model& m, const Inputs& in) { return m.batch_norm1d("n", in.features); },
     {1, 6},
     {{"eps", 1e-5}, {"momentum", 0.1}},
     {{"n.weight", {6}},
      {"n.bias", {6}},
      {"n.running_mean", {6}, false},
      {"n.running_var", {6}, false}}},
    {"batch_norm",
     [](Model& m, const Inputs& in) { return m.batch_norm1d("n", in.matrix, {.affine = false}); },
     {1, 3, 6},
     {{"eps", 1e-5}, {"momentum", 0.1}},
     {{"n.running_mean", {3}, false}, {"n.running_var", {3}, false}}},
    {"cumulative_batch_norm",
     [](Model& m, const Inputs& in) {
       return m.batch_norm1d("n", in.features, {.momentum = std::nullopt});
     },
     {1, 6},
     {{"eps", 1e-5}},
     {{"n.weight", {6}},
      {"n.bias", {6}},
      {"n.running_mean", {6}, false},
      {"n.running_var", {6}, false},
      {"n.num_batches_tracked", {6}, false}}},
    {"untracked_batch_norm",
     [](Model& m, const Inputs& in) {
       return m.batch_norm2d("n", in.image, {.track_running_stats = false});
     },
     {1, 4, 9, 8},
     {{"eps", 1e-5}},
     {{"n.weight", {4}}, {"n.bias", {4}}}},
    {"batch_norm",
     [](Model& m, const Inputs&) {
       return m.batch_norm3d("n", m.input("volume", {2, 3, 4, 5}));
     },
     {1, 2, 3, 4, 5},
     {{"eps", 1e-5}, {"momentum", 0.1}},
     {{"n.weight", {2}},
      {"n.bias", {2}},
      {"n.running_mean", {2}, false},
      {"n.running_var", {2}, false}}},
    {"batch_norm",
     [](Model& m, const Inputs& in) {
       return m.batch_norm2d("n", in.image, {.eps = 1e-3, .momentum = 0.2});
     },
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
    {"gelu_tanh",
     [](Model& m, const Inputs& in) { return m.gelu(in.features, GeluForm::tanh); },
     {1, 6}},
    {"elu",
     [](Model& m, const Inputs& in) { return m.elu(in.features, 0.5); },
     {1, 6},
     {{"alpha", 0.5}}},
    {"elu",
     [](Model& m, const Inputs& in) { return m.selu(in.features); },
     {1, 6},
     {{"alpha", 1.6732632423543772}, {"scale", 1.0507009873554805}}},
    {"elu",
     [](Model& m, const Inputs& in) { return m.celu(in.features, 2); },
     {1, 6},
     {{"alpha", 2.0}, {"input_scale", 0.5}}},
    {"softplus",
     [](Model& m, const Inputs& in) { return m.softplus(in.features, 2, 10); },
     {1, 6},
     {{"beta", 2.0}, {"threshold", 10.0}}},
    {"softsign", [](Model& m, const Inputs& in) { return m.softsign(in.features); }, {1, 6}},
    {"logsigmoid", [](Model& m, const Inputs& in) { return m.logsigmoid(in.features); }, {1, 6}},
    {"mish", [](Model& m, const Inputs& in) { return m.mish(in.features); }, {1, 6}},
    {"hardtanh",
     [](Model& m, const Inputs& in) { return m.relu6(in.features); },
     {1, 6},
     {{"low", 0.0}, {"high", 6.0}}},
    {"hardtanh",
     [](Model& m, const Inputs& in) { return m.hardtanh(in.features); },
     {1, 6},
     {{"low", -1.0}, {"high", 1.0}}},
    {"hardsigmoid", [](Model& m, const Inputs& in) { return m.hardsigmoid(in.features); }, {1, 6}},
    {"hardswish", [](Model& m, const Inputs& in) { return m.hardswish(in.features); }, {1, 6}},
    {"hardshrink",
     [](Model& m, const Inputs& in) { return m.hardshrink(in.features); },
     {1, 6},
     {{"bound", 0.5}}},
    {"softshrink",
     [](Model& m, const Inputs& in) { return m.softshrink(in.features, 0.25); },
     {1, 6},
     {{"bound", 0.25}}},
    {"threshold",
     [](Model& m, const Inputs& in) { return m.threshold(in.features, 0.5, -1); },
     {1, 6},
     {{"threshold", 0.5}, {"value", -1.0}}},
    {"softmax",
     [](Model& m, const Inputs& in) { return m.softmin(in.matrix, 2); },
     {1, 3, 6},
     {{"axis", std::int64_t{2}}}},
    {"sub", [](Model& m, const Inputs& in) { return m.tanhshrink(in.features); }, {1, 6}},
    {"mul", [](Model& m, const Inputs& in) { return m.glu(in.image, 1); }, {1, 2, 9, 8}},
    {"mul", [](Model& m, const Inputs& in) { return m.glu(in.matrix); }, {1, 3, 3}},
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
     [](Model& m, const Inputs& in) {
       return m.max_pool2d(in.image, {.kernel = 2, .stride = 1, .dilation = {3, 1}});
     },
     {1, 4, 6, 7},
     {{"kernel", std::int64_t{2}},
      {"padding", std::int64_t{0}},
      {"stride", std::int64_t{1}},
      {"dilation", Integers{3, 1}}}},
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
    {"flatten",
     [](Model& m, const Inputs& in) { return m.flatten(in.image, -2); },
     {1, 4, 72},
     {{"start_axis", std::int64_t{2}}}},
    {"flatten",
     [](Model& m, const Inputs& in) { return m.flatten(in.image, 1, 2); },
     {1, 36, 8},
     {{"end_axis", std::int64_t{2}}}},
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
    {"stop_gradient",
     [](Model& m, const Inputs& in) { return m.stop_gradient(in.matrix); },
     {1, 3, 6}},
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
    {"mean",
     [](Model& m, const Inputs& in) { return m.var(in.matrix, {2}); },
     {1, 3},
     {{"axes", Integers{2}}, {"keep", std::int64_t{0}}, {"correction", std::int64_t{1}}}},
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
INSTANTIATE_TEST_SUITE_P(SlopesAndMasks, ModelLayers,
                         ::testing::ValuesIn(layers_with_slopes_and_masks));
INSTANTIATE_TEST_SUITE_P(Norms, ModelLayers, ::testing::ValuesIn(norms));
INSTANTIATE_TEST_SUITE_P(Activations, ModelLayers, ::testing::ValuesIn(activations));
INSTANTIATE_TEST_SUITE_P(Poolings, ModelLayers, ::testing::ValuesIn(poolings));
INSTANTIATE_TEST_SUITE_P(Shapes, ModelLayers, ::testing::ValuesIn(shapes));
INSTANTIATE_TEST_SUITE_P(Arithmetic, ModelLayers, ::testing::ValuesIn(arithmetic));

TEST(ModelLayer, OptionsThatMakeNoSenseAreNamed) {
  Model model;
  const Inputs in(model);
  const std::vector<std::pair<const char*, std::function<void()>>> cases{
      {"conv2d \"c\": expected x of rank 4, got [1,6]; reshape() gives it another rank",
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
      {"layer_norm \"n\": expected a number of axes from 1 to 2, the last ones of [1,3,6], got 3",
       [&] { model.layer_norm("n", in.matrix, 3); }},
      {"rms_norm \"n\": expected a number of axes from 1 to 2, the last ones of [1,3,6], got 3",
       [&] { model.rms_norm("n", in.matrix, 3); }},
      {"batch_norm1d \"n\": expected x of rank 2 or 3, got [1,4,9,8]; reshape() gives it another "
       "rank",
       [&] { model.batch_norm1d("n", in.image); }},
      {"batch_norm2d \"n\": expected x of rank 4, got [1,3,6]; reshape() gives it another rank",
       [&] { model.batch_norm2d("n", in.matrix); }},
      {"batch_norm3d \"n\": expected x of rank 5, got [1,4,9,8]; reshape() gives it another rank",
       [&] { model.batch_norm3d("n", in.image); }},
      {"instance_norm \"n\": expected x of rank 3 or more, got [1,6]; reshape() gives it another "
       "rank",
       [&] { model.instance_norm("n", in.features); }},
      {"instance_norm \"n\": expected more than one element per channel of a sample, got x [1,6,1]",
       [&] {
         model.instance_norm("n", model.reshape(in.features, {6, 1}));
       }},
      {"prelu \"p\": expected slopes of 1 or more, got 0", [&] { model.prelu("p", in.image, 0); }},
      {"prelu \"p\": expected weight of shape [1] or [4] for x [1,4,9,8], got [3]",
       [&] { model.prelu("p", in.image, 3); }},
      {"dropout2d \"d\": expected x of rank 4, got [1,3,6]; reshape() gives it another rank",
       [&] { model.dropout2d("d", in.matrix, 0.5); }},
      {"glu: expected x with two halves along axis 1, got [1,3,6]",
       [&] { model.glu(in.matrix, 1); }},
      {"glu: expected an axis of x [1,3,6] behind axis 0, which counts samples, got 3",
       [&] { model.glu(in.matrix, 3); }},
      {"weight_norm \"w\": expected a weight of rank 2 or more and one of its axes, got [5] and "
       "axis "
       "0",
       [&] { model.weight_norm("w", {5}); }},
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
            "embedding \"other\": expected padding_index from -4 to 3, got 4");
}

TEST(ModelLayer, RefusesAnInputWithoutElementsAndLeavesNothingBehind) {
  Model model;
  const Inputs in(model);
  const Value row = model.slice(in.features, 1, 2, 2), matrix = model.slice(in.matrix, 2, 0, 0);
  const Value ids = model.slice(model.input("ids", {3}, DType::i64), 1, 0, 0);
  const Value channels = model.slice(in.image, 1, 4, 4), pixels = model.slice(in.image, 2, 1, 1);
  const std::vector<std::pair<const char*, std::function<void()>>> cases{
      {"conv2d \"l\": expected x with at least one element, got f32[1,0,9,8]",
       [&] { model.conv2d("l", channels, {.out_channels = 1, .kernel = 1}); }},
      {"conv2d \"l\": expected x with at least one element, got f32[1,4,0,8]",
       [&] { model.conv2d("l", pixels, {.out_channels = 1, .kernel = 1, .padding = 1}); }},
      {"linear \"l\": expected x with at least one element, got f32[1,0]",
       [&] { model.linear("l", row, 3); }},
      {"group_norm \"l\": expected x with at least one element, got f32[1,4,0,8]",
       [&] { model.group_norm("l", pixels, 2); }},
      {"layer_norm \"l\": expected x with at least one element, got f32[1,3,0]",
       [&] { model.layer_norm("l", matrix); }},
      {"batch_norm2d \"l\": expected x with at least one element, got f32[1,0,9,8]",
       [&] { model.batch_norm2d("l", channels); }},
      {"dropout \"l\": expected x with at least one element, got f32[1,0]",
       [&] { model.dropout("l", row, 0.5); }},
      {"lstm \"l\": expected x with at least one element, got f32[1,3,0]",
       [&] { model.lstm("l", matrix, {.hidden_size = 2}); }},
      {"embedding \"l\": expected ids with at least one element, got i64[1,0]",
       [&] { model.embedding("l", ids, 4, 3); }},
      {"cached_attention \"l\": expected q with at least one element, got f32[1,3,0]",
       [&] {
         model.cached_attention("l", matrix, in.matrix, in.matrix, in.labels, {.length = 4});
       }},
      {"transformer_encoder_layer \"l\": expected x with at least one element, got f32[1,3,0]",
       [&] { model.transformer_encoder_layer("l", matrix, {.heads = 2}); }},
      {"multi_head_attention \"l\": expected a query with at least one element, got f32[1,3,0]",
       [&] { model.multi_head_attention("l", matrix, {.heads = 2}); }},
      {"weight_norm \"l\": expected a weight with at least one element, got f32[3,0]",
       [&] {
         model.weight_norm("l", {3, 0});
       }},
  };
  for (const auto& [text, layer] : cases) EXPECT_EQ(refusal(Errc::shape_mismatch, layer), text);
  EXPECT_TRUE(model.parameters().empty());
}

TEST(ModelLayer, RefusesNumbersThatAreNoneOrThatF32DoesNotHold) {
  Model model;
  const Inputs in(model);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { model.group_norm("n", in.image, 2, 0); }),
            "group_norm \"n\": eps: expected more than 0, got 0");
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { model.celu(in.features, -1); }),
            "celu: alpha: expected more than 0, got -1");
  for (const double number : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e300}) {
    const std::vector<std::function<void()>> layers{
        [&] { model.scale(in.features, number); },
        [&] { model.leaky_relu(in.features, number); },
        [&] { model.dropout("d", in.features, number); },
        [&] { model.layer_norm("l", in.features, 1, number); },
        [&] { model.batch_norm2d("b", in.image, {.eps = number}); },
        [&] { model.batch_norm2d("b", in.image, {.momentum = number}); },
        [&] { model.rms_norm("r", in.features, 1, number); },
        [&] { model.elu(in.features, number); },
        [&] { model.celu(in.features, number); },
        [&] { model.softplus(in.features, number); },
        [&] { model.softplus(in.features, 1, number); },
        [&] { model.hardtanh(in.features, number); },
        [&] { model.threshold(in.features, 0, number); },
        [&] { model.prelu("p", in.features, 1, number); }};
    for (std::size_t i = 0; i < layers.size(); ++i)
      EXPECT_NE(refusal(Errc::invalid_argument, layers[i]), "accepted") << number << ", " << i;
  }
  EXPECT_TRUE(model.parameters().empty());
}

// At first, g is |v|, so that the weight is v.
TEST(ModelLayer, OfAWeightNormStartsAtItsDirection) {
  Model model;
  const Inputs in(model);
  model.output("y", model.linear(in.features, model.weight_norm("fc", {5, 6})));
  const Tensor v = model.weight("fc.weight_v"), g = model.weight("fc.weight_g");
  for (std::size_t row = 0; row < 5; ++row) {
    double square = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      const double element = v.as<float>()[6 * row + i];
      EXPECT_LE(std::abs(element), 1 / std::sqrt(6.0));
      square += element * element;
    }
    EXPECT_FLOAT_EQ(g.as<float>()[row], static_cast<float>(std::sqrt(square)));
  }
}

}  // namespace
}  // namespace penstock
