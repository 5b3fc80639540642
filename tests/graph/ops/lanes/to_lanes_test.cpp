#include "graph/ops/lanes/to_lanes.hpp"

#include <gtest/gtest.h>

#include "tests/graph/ops/lanes/lanes_run.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

using testing::lanes_of;
using testing::outputs_of;
using testing::same_bits;

class ToLanes : public ::testing::TestWithParam<Shape> {
 protected:
  const Tensor x = testing::uniform(GetParam(), 1);
};

TEST_P(ToLanes, PutsSamplesSideBySideAndZerosAfterThem) {
  EXPECT_TRUE(same_bits(outputs_of(to_lanes, {x})[0], lanes_of(x)));
}

TEST_P(ToLanes, IsUndoneByFromLanesWhateverIsInThePadding) {
  const auto back = outputs_of(from_lanes, {lanes_of(x, 7)}, {{"batch", x.shape()[0]}});
  EXPECT_TRUE(same_bits(back[0], x));
}

INSTANTIATE_TEST_SUITE_P(Shapes, ToLanes,
                         ::testing::Values(Shape{40, 1, 28, 28}, Shape{16, 320}, Shape{1, 1},
                                           Shape{15, 31}, Shape{33, 3, 5, 7}, Shape{8, 2, 4, 4},
                                           Shape{20, 16}, Shape{5, 17, 1, 1}));

}  // namespace
}  // namespace penstock::graph
