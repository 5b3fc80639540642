// These tests compare convolution, pooling and ReLU in one op with the three ops without lanes, one
// after the other.
#include "graph/ops/lanes/conv2d_pool_relu_lanes.hpp"

#include <gtest/gtest.h>

#include "graph/ops/activations/unary.hpp"
#include "graph/ops/convolution/conv2d.hpp"
#include "graph/ops/convolution/max_pool2d.hpp"
#include "tests/graph/ops/lanes/lanes_run.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/tape.hpp"

namespace penstock::graph {
namespace {

using testing::expect_close;
using testing::Geometry;
using testing::lanes_of;
using testing::outputs_of;
using testing::samples_of;
using List = std::vector<std::int64_t>;

class Conv2dPoolReluLanes : public ::testing::TestWithParam<Geometry> {
 protected:
  Conv2dPoolReluLanes() {
    ValueId value = tape.apply(conv2d, {x, weight, bias}, padding)[0];
    value = tape.apply(max_pool2d, {value}, {{"kernel", 2}})[0];
    y = tape.apply(relu, {value})[0];
    dy = testing::uniform(tape[y].shape(), 4);
    tape.backward(y, dy);
  }

  std::int64_t batch() const { return GetParam().x[0]; }
  /// Returns the op's outputs. If `garbage` is 0, the op knows the batch and may skip lanes without
  /// samples. Otherwise it computes these lanes from `garbage`.
  std::vector<Tensor> run_lanes(float garbage) const {
    return outputs_of(conv2d_pool_relu_lanes,
                      {lanes_of(tape[x], garbage), tape[weight], tape[bias]}, attributes(garbage));
  }
  Attributes attributes(float garbage) const {
    Attributes result = padding;
    if (garbage == 0) result.set("batch", batch());
    return result;
  }

  const Attributes padding{{"padding", GetParam().padding}};
  testing::Tape tape;
  const ValueId x = tape.leaf(testing::uniform(GetParam().x, 1));
  const ValueId weight = tape.leaf(testing::uniform(GetParam().weight, 2));
  const ValueId bias = tape.leaf(testing::uniform({GetParam().weight[0]}, 3));
  ValueId y = none;
  Tensor dy;
};

TEST_P(Conv2dPoolReluLanes, GivesWhatTheThreeOpsGive) {
  for (const float garbage : {0.0f, 1e6f})
    expect_close(samples_of(run_lanes(garbage)[0], batch()), tape[y]);
}

TEST_P(Conv2dPoolReluLanes, SendsBackWhatTheThreeOpsSendBack) {
  for (const float garbage : {0.0f, 1e6f}) {
    Attributes back = attributes(garbage);
    back.set("input_size", List{tape[x].shape()[2], tape[x].shape()[3]});
    const Tensor dx = outputs_of(conv2d_pool_relu_lanes_input_gradient,
                                 {run_lanes(garbage)[1], lanes_of(dy), tape[weight]}, back)[0];
    expect_close(samples_of(dx, batch()), tape.gradient(x));
    testing::expect_zero_padding(dx, batch());
  }
}

TEST_P(Conv2dPoolReluLanes, SumsWeightAndBiasGradientsOverRealSamplesOnly) {
  for (const float garbage : {0.0f, 1e6f}) {
    Attributes back = attributes(garbage);
    back.set("kernel", List{tape[weight].shape()[2], tape[weight].shape()[3]});
    const auto gradients =
        outputs_of(conv2d_pool_relu_lanes_weight_gradient,
                   {lanes_of(tape[x], garbage), run_lanes(garbage)[1], lanes_of(dy)}, back);
    expect_close(gradients[0], tape.gradient(weight));
    expect_close(gradients[1], tape.gradient(bias));
  }
}

INSTANTIATE_TEST_SUITE_P(Geometries, Conv2dPoolReluLanes,
                         ::testing::Values(Geometry{{40, 1, 28, 28}, {10, 1, 5, 5}},
                                           Geometry{{17, 10, 12, 12}, {20, 10, 5, 5}},
                                           Geometry{{16, 1, 28, 28}, {5, 1, 3, 3}},
                                           Geometry{{3, 2, 9, 7}, {7, 2, 3, 4}},
                                           Geometry{{24, 1, 2, 2}, {1, 1, 1, 1}},
                                           Geometry{{41, 3, 8, 21}, {4, 3, 2, 7}},
                                           Geometry{{8, 2, 12, 7}, {6, 2, 11, 6}},
                                           Geometry{{20, 4, 6, 5}, {7, 4, 3, 3}, {1, 1}},
                                           Geometry{{5, 2, 3, 9}, {3, 2, 5, 4}, {2, 3}}));

}  // namespace
}  // namespace penstock::graph
