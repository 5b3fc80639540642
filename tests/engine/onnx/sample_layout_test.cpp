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

TEST(SampleLayout, RefusesANumberOfAxesThatDependsOnTheNumberOfSamples) {
  const ProbedDims from{Dims{2}, Dims{3}}, to{Dims{1, 2}, Dims{3}};
  for (const Placement& placement : {Placement{.axis = 0}, Placement{.whole = true}})
    EXPECT_THROW(reshaped_placement(placement, from, to, {2, 3}), MixedSamples);
}

}  // namespace
}  // namespace penstock::testing
