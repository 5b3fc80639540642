#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "tests/engine/model/layer_case.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::ops_of;
using testing::refusal;
using Names = std::vector<std::string>;

Names sorted_parameters(const Model& model) {
  Names names;
  for (const ParameterInfo& parameter : model.parameters())
    names.push_back(parameter.name + " " + to_string(parameter.shape));
  std::ranges::sort(names);
  return names;
}

Names names_of_nodes(const Model& model) {
  Names names;
  for (const graph::Node& node : ModelAccess::graph(model).nodes) names.push_back(node.name);
  return names;
}

float largest_magnitude(const Model& model, const std::string& name) {
  const Tensor weight = model.weight(name);
  const auto elements = weight.as<float>();
  return std::abs(*std::ranges::max_element(elements, {}, [](float x) { return std::abs(x); }));
}

TEST(ModelTransformers, SelfAttentionIsOneProductForQueriesKeysAndValues) {
  Model model;
  const Value y = model.multi_head_attention("mix", model.input("x", {5, 8}), {.heads = 2});
  EXPECT_EQ(model.shape(y), (Shape{1, 5, 8}));
  EXPECT_EQ(sorted_parameters(model),
            (Names{"mix.in_proj_bias [24]", "mix.in_proj_weight [24,8]", "mix.out_proj.bias [8]",
                   "mix.out_proj.weight [8,8]"}));
  EXPECT_EQ(ops_of(model), (std::vector<std::string_view>{"linear", "attention", "linear"}));
  EXPECT_EQ(names_of_nodes(model), (Names{"mix/in_proj", "mix/attention", "mix"}));
}

TEST(ModelTransformers, AnAttentionToOtherFeaturesHasAWeightForEach) {
  Model model;
  const Value x = model.input("x", {5, 8}), keys = model.input("keys", {7, 3});
  const Value values = model.input("values", {7, 6});
  const Value y = model.multi_head_attention("mix", x, keys, values, {.heads = 4, .bias = false});
  EXPECT_EQ(model.shape(y), (Shape{1, 5, 8}));
  EXPECT_EQ(sorted_parameters(model),
            (Names{"mix.k_proj_weight [8,3]", "mix.out_proj.weight [8,8]",
                   "mix.q_proj_weight [8,8]", "mix.v_proj_weight [8,6]"}));
}

TEST(ModelTransformers, FewerHeadsOfKeysAndValuesHaveFewerWeights) {
  Model model;
  const Value x = model.input("x", {5, 8}), memory = model.input("memory", {7, 8});
  model.multi_head_attention("own", x, {.heads = 4, .kv_heads = 1, .bias = false});
  model.multi_head_attention("other", x, memory, memory,
                             {.heads = 4, .kv_heads = 2, .bias = false});
  EXPECT_EQ(sorted_parameters(model),
            (Names{"other.in_proj_weight [16,8]", "other.out_proj.weight [8,8]",
                   "own.in_proj_weight [12,8]", "own.out_proj.weight [8,8]"}));
}

// The bounds are sqrt(6/(fan in + fan out)) and 1/sqrt(fan in).
TEST(ModelTransformers, AttentionsStartAsPyTorchsDo) {
  Model model;
  model.multi_head_attention("mix", model.input("x", {5, 100}), {.heads = 2});
  EXPECT_NEAR(largest_magnitude(model, "mix.in_proj_weight"), std::sqrt(6.0 / 400), 1e-3);
  EXPECT_NEAR(largest_magnitude(model, "mix.out_proj.weight"), 0.1, 1e-3);
  EXPECT_EQ(largest_magnitude(model, "mix.in_proj_bias"), 0.0f);
  EXPECT_EQ(largest_magnitude(model, "mix.out_proj.bias"), 0.0f);
}

TEST(ModelTransformers, RotaryEmbeddingIsOneOp) {
  Model model;
  const Value x = model.input("x", {5, 8});
  EXPECT_EQ(model.shape(model.rotary_embedding(
                x, {.heads = 2, .base = 100, .features = 2, .interleaved = true})),
            (Shape{1, 5, 8}));
  EXPECT_EQ(ModelAccess::graph(model).nodes[0].attributes,
            (graph::Attributes{{"heads", std::int64_t{2}},
                               {"features", std::int64_t{2}},
                               {"base", 100.0},
                               {"interleaved", std::int64_t{1}}}));
}

TEST(ModelTransformers, AnEncoderLayerHasThePartsOfPyTorch) {
  Model model;
  const Value y = model.transformer_encoder_layer(
      "layer", model.input("x", {5, 8}), {.heads = 2, .dim_feedforward = 12, .dropout = 0});
  EXPECT_EQ(model.shape(y), (Shape{1, 5, 8}));
  EXPECT_EQ(sorted_parameters(model),
            (Names{"layer.linear1.bias [12]", "layer.linear1.weight [12,8]",
                   "layer.linear2.bias [8]", "layer.linear2.weight [8,12]", "layer.norm1.bias [8]",
                   "layer.norm1.weight [8]", "layer.norm2.bias [8]", "layer.norm2.weight [8]",
                   "layer.self_attn.in_proj_bias [24]", "layer.self_attn.in_proj_weight [24,8]",
                   "layer.self_attn.out_proj.bias [8]", "layer.self_attn.out_proj.weight [8,8]"}));
  EXPECT_EQ(names_of_nodes(model),
            (Names{"layer.self_attn/in_proj", "layer.self_attn/attention", "layer.self_attn",
                   "layer/sum1", "layer.norm1", "layer.linear1", "layer/activation",
                   "layer.linear2", "layer/sum2", "layer"}));
}

TEST(ModelTransformers, ALayerMayNormalizeFirstAndDropsInFourPlaces) {
  Model model;
  model.transformer_encoder_layer("layer", model.input("x", {5, 8}),
                                  {.dim_feedforward = 12,
                                   .activation = TransformerActivation::gelu,
                                   .norm_first = true,
                                   .bias = false});
  const Names names = names_of_nodes(model);
  EXPECT_EQ(names.front(), "layer.norm1");
  EXPECT_EQ(names.back(), "layer");
  EXPECT_EQ(std::ranges::count(ops_of(model), "attention_dropout"), 1);
  EXPECT_EQ(std::ranges::count(ops_of(model), "dropout"), 3);
  EXPECT_EQ(std::ranges::count(ops_of(model), "gelu"), 1);
  for (const ParameterInfo& parameter : model.parameters())
    EXPECT_TRUE(parameter.name.ends_with("weight")) << parameter.name;
}

TEST(ModelTransformers, ADecoderLayerAttendsToAMemory) {
  Model model;
  const Value x = model.input("x", {5, 8}), memory = model.input("memory", {7, 6});
  EXPECT_EQ(model.shape(model.transformer_decoder_layer("layer", x, memory,
                                                        {.heads = 2, .dim_feedforward = 12})),
            (Shape{1, 5, 8}));
  const Names names = sorted_parameters(model);
  for (const char* name : {"layer.multihead_attn.k_proj_weight [8,6]", "layer.norm3.weight [8]"})
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
}

TEST(ModelTransformers, RefusedLeaveNothingBehind) {
  Model model;
  const Value x = model.input("x", {5, 8}), row = model.input("row", {8});
  const Value mask = model.input("mask", {7});
  const auto mixed = [&](const Value& input, const MultiHeadAttentionOptions& options) {
    return refusal(Errc::shape_mismatch, [&] { model.multi_head_attention("m", input, options); });
  };
  EXPECT_EQ(mixed(row, {}),
            "multi_head_attention \"m\": expected a query of type f32 and rank 3 or more, got "
            "f32[1,8]");
  EXPECT_EQ(mixed(x, {.heads = 0}), "multi_head_attention \"m\": expected 1 head or more, got 0");
  EXPECT_EQ(mixed(x, {.heads = 3}),
            "multi_head_attention \"m\": expected a query with a multiple of 3 features, got "
            "f32[1,5,8]");
  EXPECT_EQ(mixed(x, {.heads = 4, .kv_heads = 3}),
            "multi_head_attention \"m\": expected kv_heads that divide 4 heads, got 3");
  EXPECT_EQ(mixed(x, {.key_padding_mask = mask}),
            "multi_head_attention \"m\": attention \"m/attention\": expected key_padding_mask of "
            "shape [1,5], got [1,7]");
  EXPECT_EQ(mixed(x, {.dropout = 0.5, .key_padding_mask = mask}),
            "multi_head_attention \"m\": attention_dropout \"m/attention\": expected "
            "key_padding_mask of shape [1,5], got "
            "[1,7]");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] { model.transformer_encoder_layer("e", x, {.memory_mask = mask}); }),
            "transformer_encoder_layer \"e\": expected no mask of a memory, because only a decoder "
            "layer has a memory, got one; key_padding_mask and attn_mask are those of x");
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] { model.transformer_decoder_layer("d", x, x, {.dim_feedforward = 0}); }),
            "transformer_decoder_layer \"d\": expected dim_feedforward of 1 or more, got 0");
  EXPECT_TRUE(ops_of(model).empty());
  EXPECT_TRUE(model.parameters().empty());
  model.multi_head_attention("m", x, {});
  EXPECT_NE(refusal(Errc::invalid_model, [&] { model.multi_head_attention("m", x, {}); }),
            "accepted");
}

}  // namespace
}  // namespace penstock
