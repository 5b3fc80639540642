// These tests check Model::interpolate(): the nodes that it adds, and what it refuses.
// tests/e2e/pytorch_spatial_test.cpp compares what it computes with PyTorch.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/engine/model/layer_case.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::ModelLayers;
using testing::ops_of;
using testing::refusal;
using Case = testing::LayerCase;
using Inputs = testing::LayerInputs;
using Integers = std::vector<std::int64_t>;

constexpr InterpolateMode linear = InterpolateMode::linear;

/// Returns the attributes of a linear interpolation along the rows of an image.
graph::Attributes of_rows(std::int64_t size, double scale_factor, bool align_corners) {
  return {{"axis", std::int64_t{2}},
          {"size", size},
          {"scale_factor", scale_factor},
          {"align_corners", std::int64_t{align_corners}}};
}

const std::vector<Case> interpolations{
    {"index_select",
     [](Model& m, const Inputs& in) { return m.interpolate(in.matrix, {.scale_factor = {1.5}}); },
     {1, 3, 9},
     {{"axis", std::int64_t{2}}, {"indices", Integers{0, 0, 1, 2, 2, 3, 4, 4, 5}}}},
    {"index_select",
     [](Model& m, const Inputs& in) {
       return m.interpolate(in.matrix, {.size = {4}, .mode = InterpolateMode::nearest_exact});
     },
     {1, 3, 4},
     {{"axis", std::int64_t{2}}, {"indices", Integers{0, 2, 3, 5}}}},
    {"interpolate",
     [](Model& m, const Inputs& in) {
       return m.interpolate(in.image, {.size = {4, 16}, .mode = linear, .align_corners = true});
     },
     {1, 4, 4, 16},
     of_rows(4, 0, true)},
    {"interpolate",
     [](Model& m, const Inputs& in) {
       return m.interpolate(in.image, {.scale_factor = {1.5}, .mode = linear});
     },
     {1, 4, 13, 12},
     of_rows(13, 1.5, false)},
    {"interpolate",
     [](Model& m, const Inputs& in) {
       return m.interpolate(
           in.image, {.scale_factor = {1.5, 2}, .mode = linear, .recompute_scale_factor = true});
     },
     {1, 4, 13, 16},
     of_rows(13, 0, false)},
};

INSTANTIATE_TEST_SUITE_P(Interpolations, ModelLayers, ::testing::ValuesIn(interpolations));

TEST(ModelInterpolate, RefusesOptionsThatDoNotFitXOrEachOther) {
  Model model;
  const Value x = model.input("x", {4, 3, 8});
  const std::vector<std::pair<const char*, InterpolateOptions>> cases{
      {"interpolate: expected either size or scale_factor, got neither", {}},
      {"interpolate: expected either size or scale_factor, got both",
       {.size = {2}, .scale_factor = {2}}},
      {"interpolate: expected 1 number or 2 in size, one for each axis behind the channels, got 3",
       {.size = {2, 2, 2}}},
      {"interpolate: expected 1 number or 2 in scale_factor, one for each axis behind the "
       "channels, "
       "got 3",
       {.scale_factor = {2, 2, 2}}},
      {"interpolate: expected align_corners with InterpolateMode::linear only, got it with a "
       "nearest mode; leave it false",
       {.size = {2}, .align_corners = true}},
      {"interpolate: expected recompute_scale_factor with scale_factor only, got it with size; "
       "leave it false",
       {.size = {2}, .recompute_scale_factor = true}},
      {"interpolate: scale_factor: expected more than 0, got 0", {.scale_factor = {0}}},
      {"interpolate: scale_factor: expected more than 0, got -2", {.scale_factor = {2, -2}}},
      {"interpolate: expected a scale_factor that gives an axis of 8 elements at most 2^30 of "
       "them, "
       "got 1e+20",
       {.scale_factor = {1e20}}}};
  for (const auto& [text, options] : cases)
    EXPECT_EQ(refusal(Errc::invalid_argument, [&] { model.interpolate(x, options); }), text);
  for (const double number : {std::nan(""), HUGE_VAL})
    EXPECT_NE(
        refusal(Errc::invalid_argument, [&] { model.interpolate(x, {.scale_factor = {number}}); }),
        "accepted");
  EXPECT_TRUE(ops_of(model).empty());
}

/// Returns the attributes of the nodes that enlarge an image by 1.1.
std::vector<graph::Attributes> enlarged() {
  Model model;
  model.interpolate(model.input("x", {4, 30, 10}), {.scale_factor = {1.1}});
  std::vector<graph::Attributes> attributes;
  for (const graph::Node& node : ModelAccess::graph(model).nodes)
    attributes.push_back(node.attributes);
  return attributes;
}

TEST(ModelInterpolate, TakesTheSameElementsHoweverTheHostRounds) {
  const std::vector<graph::Attributes> expected = enlarged();
  const int before = std::fegetround();
  for (const int mode : {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const std::vector<graph::Attributes> found = enlarged();
    EXPECT_EQ(std::fegetround(), mode);
    ASSERT_EQ(std::fesetround(before), 0);
    EXPECT_EQ(found, expected) << mode;
  }
}

TEST(ModelInterpolate, RefusesResultsWithoutElementsAndOtherRanks) {
  Model model;
  const Value x = model.input("x", {4, 3, 8}), row = model.input("row", {4});
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.interpolate(x, {.scale_factor = {0.3}}); }),
            "interpolate: expected 1 element or more along axis 2 of x [1,4,3,8] and of the "
            "result, got 0");
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      model.interpolate(x, {.size = {2, -1}, .mode = linear});
                    }),
            "interpolate: expected 1 element or more along axis 3 of x [1,4,3,8] and of the "
            "result, got -1");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.interpolate(row, {.size = {2}}); }),
            "interpolate: expected x of rank 3 to 5, got [1,4]");
  EXPECT_TRUE(ops_of(model).empty());
}

}  // namespace
}  // namespace penstock
