#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "penstock/inference_model.hpp"
#include "tests/engine/model/layer_case.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using graph::Attributes;
using testing::ops_of;
using testing::refusal;

TEST(ModelAttention, IsOneOp) {
  Model model;
  const Value q = model.input("q", {2, 5, 16}), k = model.input("k", {2, 7, 16}),
              v = model.input("v", {2, 7, 8});
  EXPECT_EQ(model.shape(model.attention(q, k, v, {.heads = 4})), (Shape{1, 2, 5, 8}));
  EXPECT_EQ(model.shape(model.attention(model.input("qkv", {5, 24}), {.heads = 2, .causal = true})),
            (Shape{1, 5, 8}));
  EXPECT_EQ(ops_of(model), (std::vector<std::string_view>{"attention", "attention"}));
  EXPECT_EQ(ModelAccess::graph(model).nodes[1].attributes,
            (Attributes{{"heads", std::int64_t{2}}, {"causal", std::int64_t{1}}}));
}

TEST(ModelAttention, WithADropoutIsOneOpWithTheNameOfTheMasks) {
  Model model;
  const Value q = model.input("q", {5, 16}), k = model.input("k", {7, 16}),
              v = model.input("v", {7, 8});
  const Value y = model.attention(q, k, v, {.heads = 4, .dropout = 0.1, .name = "drop"});
  EXPECT_EQ(model.shape(y), (Shape{1, 5, 8}));
  EXPECT_EQ(ops_of(model), (std::vector<std::string_view>{"attention_dropout"}));
  EXPECT_EQ(ModelAccess::graph(model).nodes[0].name, "drop");
  EXPECT_EQ(ModelAccess::graph(model).nodes[0].attributes,
            (Attributes{{"heads", std::int64_t{4}}, {"causal", std::int64_t{0}}, {"p", 0.1}}));
}

/// Returns what an attention with masks and shared heads computes in inference, where there is no
/// dropout.
std::vector<float> attended_in_inference(DType padding_type, double dropout, bool packed) {
  Model model;
  const Value x = model.input("x", {2, 5, 8}), kv = model.input("kv", {2, 5, 4});
  const Value padding = model.input("padding", {5}, padding_type);
  std::vector<float> mask(25, 0.5f);
  std::fill_n(mask.begin() + 10, 5, -std::numeric_limits<float>::infinity());
  const AttentionOptions options{.heads = 4,
                                 .causal = true,
                                 .dropout = dropout,
                                 .name = "drop",
                                 .kv_heads = 2,
                                 .key_padding_mask = padding,
                                 .attn_mask = model.constant("mask", Tensor({5, 5}, mask))};
  model.output("y", packed ? model.attention(model.concat({x, kv, kv}, -1), options)
                           : model.attention(x, kv, kv, options));
  InferenceModel inference(model, {.batch_size = 2});
  const std::vector<std::int64_t> hidden{1, 0, 0, 1, 0, 1, 1, 1, 1, 1};
  const std::vector<float> floats(hidden.begin(), hidden.end());
  const StepResult result =
      inference.run({testing::uniform({2, 2, 5, 8}, 1), testing::uniform({2, 2, 5, 4}, 2),
                     padding_type == DType::f32 ? Tensor({2, 5}, floats) : Tensor({2, 5}, hidden)});
  const auto values = result.output("y").as<float>();
  return {values.begin(), values.end()};
}

// The first sample has a query without keys, and the second one has no key at all.
TEST(ModelAttention, WithADropoutComputesTheSameInInference) {
  for (const bool packed : {false, true})
    for (const DType type : {DType::f32, DType::i64}) {
      const std::vector<float> dropping = attended_in_inference(type, 0.5, packed);
      const std::vector<float> whole = attended_in_inference(type, 0, packed);
      ASSERT_EQ(dropping.size(), whole.size());
      for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(dropping[i], whole[i]);
      EXPECT_GT(std::ranges::count_if(whole, [](float y) { return y != 0; }), 40);
      EXPECT_TRUE(std::all_of(whole.begin() + 80, whole.end(), [](float y) { return y == 0; }));
    }
}

// docs/layers.md says how a mask is made of lengths.
TEST(ModelAttention, TakesAMaskThatTheModelMakesOfLengths) {
  Model model;
  const Value x = model.input("x", {4, 6}), length = model.input("length", {1});
  const Value positions = model.constant("positions", Tensor({4}, {0.0f, 1.0f, 2.0f, 3.0f}));
  const Value padding = model.input("padding", {4}, DType::i64);
  model.output("of lengths",
               model.attention(x, x, x, {.key_padding_mask = model.less_equal(length, positions)}));
  model.output("of padding", model.attention(x, x, x, {.key_padding_mask = padding}));
  InferenceModel inference(model, {.batch_size = 2});
  const std::vector<std::int64_t> hidden{0, 0, 0, 1, 0, 1, 1, 1};
  const StepResult result = inference.run(
      {testing::uniform({2, 4, 6}, 1), Tensor({2, 1}, {3.0f, 1.0f}), Tensor({2, 4}, hidden)});
  EXPECT_TRUE(testing::same_bits(result.output("of lengths"), result.output("of padding")));
}

TEST(ModelAttention, RefusedLeavesNothingBehind) {
  Model model;
  const Value q = model.input("q", {5, 16}), v = model.input("v", {6, 7});
  const Value flat = model.input("flat", {16});
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.attention(flat, q, v); }),
            "attention \"attention_1\": expected q of rank 3 or more, got f32[1,16]; reshape() "
            "gives it another rank");
  const AttentionOptions dropping{.dropout = 0.1, .name = "drop"};
  EXPECT_EQ(
      refusal(Errc::shape_mismatch, [&] { model.attention(q, q, v, dropping); }),
      "attention: attention_dropout \"drop\": expected v with 5 rows, as k has, got f32[1,6,7]");
  EXPECT_EQ(
      refusal(Errc::invalid_argument, [&] { model.attention(q, q, q, {.dropout = 0.1}); }),
      "attention: expected AttentionOptions::name to be set, because the masks of the dropout "
      "depend on it, got an empty name");
  EXPECT_NE(refusal(Errc::invalid_argument,
                    [&] { model.attention(q, q, q, {.dropout = 1.5, .name = "drop"}); }),
            "accepted");
  EXPECT_TRUE(ops_of(model).empty());
  const Value nothing = model.slice(q, 2, 3, 3);
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.attention(nothing, nothing, q); }),
            "attention \"attention_1\": expected q with at least one element, got f32[1,5,0]");
  EXPECT_EQ(ops_of(model).size(), 1U);
}

}  // namespace
}  // namespace penstock
