#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "tests/engine/model/layer_case.hpp"
#include "tests/support/refusal.hpp"

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

TEST(ModelAttention, WithADropoutIsMadeOfItsParts) {
  Model model;
  const Value q = model.input("q", {5, 16}), k = model.input("k", {7, 16}),
              v = model.input("v", {7, 8});
  EXPECT_EQ(model.shape(model.attention(q, k, v, {.heads = 4, .dropout = 0.1, .name = "drop"})),
            (Shape{1, 5, 8}));
  EXPECT_EQ(ops_of(model),
            (std::vector<std::string_view>{"reshape", "transpose", "reshape", "transpose", "matmul",
                                           "scale", "softmax", "dropout", "reshape", "transpose",
                                           "matmul", "transpose", "reshape"}));
  EXPECT_EQ(ModelAccess::graph(model).nodes[5].attributes, (Attributes{{"factor", 0.5}}));
  EXPECT_EQ(model.shape(model.attention(
                model.input("qkv", {2, 5, 24}),
                {.heads = 2, .causal = true, .dropout = 0.1, .name = "other drop"})),
            (Shape{1, 2, 5, 8}));
}

TEST(ModelAttention, RefusedLeavesNothingBehind) {
  Model model;
  const Value q = model.input("q", {5, 16}), v = model.input("v", {6, 7});
  const Value flat = model.input("flat", {16});
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.attention(flat, q, v); }),
            "attention \"attention_1\": expected q of rank 3 or more, got f32[1,16]");
  const AttentionOptions dropping{.dropout = 0.1, .name = "drop"};
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.attention(q, q, v, dropping); }),
            "attention: expected v with 5 rows, as k has, got f32[1,6,7]");
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
