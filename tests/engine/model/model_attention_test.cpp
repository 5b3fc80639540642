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

TEST(ModelAttention, IsMadeOfItsParts) {
  Model model;
  const Value q = model.input("q", {2, 5, 16}), k = model.input("k", {2, 5, 16}),
              v = model.input("v", {2, 5, 7});
  EXPECT_EQ(model.shape(model.attention(q, k, v, true)), (Shape{1, 2, 5, 7}));
  EXPECT_EQ(ops_of(model),
            (std::vector<std::string_view>{"matmul", "scale", "causal_mask", "softmax", "matmul"}));
  EXPECT_EQ(ModelAccess::graph(model).nodes[1].attributes, (Attributes{{"factor", 0.25}}));
}

TEST(ModelAttention, RefusedLeavesNothingBehind) {
  Model model;
  const Value q = model.input("q", {5, 16}), v = model.input("v", {6, 7});
  const Value flat = model.input("flat", {16});
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.attention(flat, q, v); }),
            "attention: expected q of rank 3 or more, [N,...,S,D], got [1,16]");
  EXPECT_NE(refusal(Errc::shape_mismatch, [&] { model.attention(q, q, v); }), "accepted");
  EXPECT_TRUE(ops_of(model).empty());
  const Value nothing = model.slice(q, 2, 3, 3);
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.attention(nothing, nothing, q); }),
            "attention: expected q, k and v with at least one element each, got [1,5,0]");
  EXPECT_EQ(ops_of(model).size(), 1U);
}

}  // namespace
}  // namespace penstock
