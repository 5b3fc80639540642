#include "engine/onnx/import/sample_layout.hpp"

#include <gtest/gtest.h>

namespace penstock::testing {
namespace {

TEST(SampleLayout, FindsTheAxisThatKeepsSamplesApart) {
  const ProbedDims from{Dims{2, 6}, Dims{3, 6}};
  const Placement placement{.axis = 0};
  EXPECT_EQ(reshaped_placement(placement, from, {Dims{1, 2, 6}, Dims{1, 3, 6}}, {2, 3}),
            Placement{.axis = 1});
  EXPECT_EQ(reshaped_placement(placement, from, {Dims{4, 3}, Dims{6, 3}}, {2, 3}),
            (Placement{.axis = 0, .inner = 2}));
  EXPECT_THROW(reshaped_placement(placement, from, {Dims{3, 4}, Dims{2, 9}}, {2, 3}), MixedSamples);
}

// Several axes can have one sample. These are the shapes of an attention over five steps, with two
// heads of three numbers, whose axis of the samples is behind that of the steps.
TEST(SampleLayout, KeepsASingleSampleAwayFromFeatures) {
  const auto reshaped = [](const Placement& placement, const Dims& from, const Dims& to) {
    return reshaped_placement(placement, {from, from}, {to, to}, {1, 1});
  };
  const Placement behind_steps{.axis = 1}, with_heads{.axis = 1, .inner = 2},
      with_steps{.axis = 0, .outer = 5};
  EXPECT_EQ(reshaped(behind_steps, {5, 1, 6}, {5, 2, 3}), with_heads);
  EXPECT_EQ(reshaped(with_heads, {5, 2, 3}, {5, 6}), with_steps);
  EXPECT_EQ(reshaped(with_steps, {5, 6}, {5, 1, 6}), behind_steps);
  EXPECT_EQ(reshaped({.axis = 0}, {1, 5, 6}, {1, 30}), Placement{.axis = 0});
  EXPECT_EQ(reshaped({.axis = 0}, {1, 30}, {30}), (Placement{.axis = 0, .inner = 30}));
}

TEST(SampleLayout, RefusesANumberOfAxesThatDependsOnTheNumberOfSamples) {
  const ProbedDims from{Dims{2}, Dims{3}}, to{Dims{1, 2}, Dims{3}};
  for (const Placement& placement : {Placement{.axis = 0}, Placement{.whole = true}})
    EXPECT_THROW(reshaped_placement(placement, from, to, {2, 3}), MixedSamples);
}

}  // namespace
}  // namespace penstock::testing
