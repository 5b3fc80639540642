// These tests check that the average of a plane has the same bits whichever planes are beside it.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "graph/ops/convolution/avg_pool2d.hpp"
#include "tests/support/op_call.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

Tensor averages(const Tensor& x) {
  return testing::run({.op = &global_avg_pool2d, .inputs = {x}})[0];
}

TEST(GlobalAvgPool2d, OfAPlaneHasTheSameBitsBesideOthersAndAlone) {
  constexpr std::int64_t planes = 37;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (std::int64_t pixels = 1; pixels <= 70; ++pixels) {
    SCOPED_TRACE(std::to_string(pixels) + " pixels");
    const Tensor drawn = testing::uniform({planes, pixels}, 1, -100, 100);
    std::vector<float> x(drawn.as<float>().begin(), drawn.as<float>().end());
    for (std::int64_t i = 0; i < pixels; ++i) x[static_cast<std::size_t>(3 * pixels + i)] = -0.0f;
    x[static_cast<std::size_t>(5 * pixels)] = -infinity;
    const Tensor together = averages(Tensor({1, planes, 1, pixels}, x));
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      const std::span<const float> own(x.data() + plane * pixels, static_cast<std::size_t>(pixels));
      const Tensor alone = averages(Tensor({1, 1, 1, pixels}, own));
      const std::span<const float> one(&together.as<float>()[static_cast<std::size_t>(plane)], 1);
      EXPECT_TRUE(testing::same_bits(Tensor(alone.shape(), one), alone)) << plane;
    }
  }
}

}  // namespace
}  // namespace penstock::graph
