// These tests compare convolution with its definition, over more geometries than PyTorch's files
// have. The forward pass is linear in x and in the weight, so that its gradients must satisfy
// sum(dy * y) = sum(dx * x) = sum(dweight * weight).
#include "graph/ops/convolution/conv2d.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <ostream>

#include "graph/ops/rules/window2d.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/tape.hpp"

namespace penstock::graph {
namespace {

struct Geometry {
  Shape x, weight;
  Attributes attributes;
};

void PrintTo(const Geometry& geometry, std::ostream* stream) {
  *stream << to_string(geometry.x) << " * " << to_string(geometry.weight);
}

double dot(const Tensor& a, const Tensor& b) {
  const auto va = a.as<float>(), vb = b.as<float>();
  return std::inner_product(va.begin(), va.end(), vb.begin(), 0.0, std::plus<>(),
                            [](float p, float q) { return static_cast<double>(p) * q; });
}

/// Returns the element of x [N,C,H,W] at (sample, channel, row, column), or 0 outside the image.
double pixel(const Tensor& x, std::int64_t sample, std::int64_t channel, std::int64_t row,
             std::int64_t column) {
  const std::int64_t h = x.shape()[2], w = x.shape()[3];
  if (row < 0 || row >= h || column < 0 || column >= w) return 0;
  const std::int64_t plane = sample * x.shape()[1] + channel;
  return x.as<float>()[static_cast<std::size_t>((plane * h + row) * w + column)];
}

/// Computes one output element by its definition.
double sum_over_window(const Tensor& x, const Tensor& weight, const Window2d& window,
                       std::int64_t groups, std::int64_t sample, std::int64_t output,
                       std::int64_t row, std::int64_t column) {
  const Shape& k = weight.shape();
  const std::int64_t first = output / (k[0] / groups) * k[1];
  double sum = 0;
  for (std::int64_t c = 0; c < k[1]; ++c)
    for (std::int64_t kh = 0; kh < k[2]; ++kh)
      for (std::int64_t kw = 0; kw < k[3]; ++kw)
        sum += pixel(weight, output, c, kh, kw) * pixel(x, sample, first + c,
                                                        window.position(0, row, kh),
                                                        window.position(1, column, kw));
  return sum;
}

class Conv2d : public ::testing::TestWithParam<Geometry> {
 protected:
  Conv2d()
      : x_(testing::uniform(GetParam().x, 1)), weight_(testing::uniform(GetParam().weight, 2)) {}

  Tensor x_, weight_;
};

TEST_P(Conv2d, SumsOverTheWindow) {
  const Attributes& attributes = GetParam().attributes;
  const Tensor y =
      testing::run({.op = &conv2d, .attributes = attributes, .inputs = {x_, weight_}})[0];
  const Window2d window = conv_window(attributes, {weight_.shape()[2], weight_.shape()[3]});
  const std::int64_t groups = attributes.integer("groups", 1);
  const Shape& shape = y.shape();
  ASSERT_EQ(shape[0], x_.shape()[0]);
  ASSERT_EQ(shape[1], weight_.shape()[0]);
  std::size_t i = 0;
  for (std::int64_t n = 0; n < shape[0]; ++n)
    for (std::int64_t o = 0; o < shape[1]; ++o)
      for (std::int64_t row = 0; row < shape[2]; ++row)
        for (std::int64_t column = 0; column < shape[3]; ++column)
          ASSERT_NEAR(y.as<float>()[i++],
                      sum_over_window(x_, weight_, window, groups, n, o, row, column), 1e-4)
              << "sample " << n << ", channel " << o << ", row " << row << ", column " << column;
}

TEST_P(Conv2d, HasTheGradientsOfABilinearMap) {
  testing::Tape tape;
  const ValueId x = tape.leaf(x_), weight = tape.leaf(weight_);
  const ValueId y = tape.apply(conv2d, {x, weight}, GetParam().attributes)[0];
  const Tensor dy = testing::uniform(tape[y].shape(), 3);
  tape.backward(y, dy);
  const double expected = dot(dy, tape[y]), tolerance = 1e-5 * static_cast<double>(dy.elements());
  EXPECT_NEAR(dot(tape.gradient(x), x_), expected, tolerance);
  EXPECT_NEAR(dot(tape.gradient(weight), weight_), expected, tolerance);
}

using List = std::vector<std::int64_t>;

INSTANTIATE_TEST_SUITE_P(
    Geometries, Conv2d,
    ::testing::Values(
        // A sample has one result per channel, so that many samples share a product.
        Geometry{{70, 3, 5, 5}, {4, 3, 5, 5}, {}},
        Geometry{{13, 4, 6, 5}, {6, 2, 3, 3}, {{"groups", 2}, {"padding", 1}, {"stride", 2}}},
        Geometry{{1, 1, 1, 1}, {1, 1, 1, 1}, {}},
        Geometry{{2, 3, 9, 40}, {5, 3, 2, 7}, {{"padding", List{0, 3}}}},
        Geometry{{2, 2, 12, 3}, {3, 2, 4, 1}, {{"stride", List{3, 2}}, {"dilation", List{2, 9}}}},
        // Windows lie wholly in the padding.
        Geometry{{3, 2, 4, 4}, {2, 2, 3, 3}, {{"padding", 5}}},
        Geometry{{2, 8, 10, 10}, {16, 1, 3, 3}, {{"groups", 8}, {"padding", 1}}},
        Geometry{{2, 2, 11, 11}, {3, 2, 3, 3}, {{"stride", 4}, {"dilation", 3}, {"padding", 2}}},
        // No tap sees any pixel of x, so that there is next to no workspace.
        Geometry{{3, 7, 1, 4}, {9, 7, 1, 1}, {{"stride", 2}, {"padding", 3}, {"dilation", 2}}},
        // Channels are convolved by themselves, several at a time.
        Geometry{{3, 30, 3, 3}, {30, 1, 3, 3}, {{"groups", 30}, {"padding", 1}}},
        Geometry{{2, 43, 20, 21},
                 {43, 1, 4, 3},
                 {{"groups", 43}, {"stride", List{2, 3}}, {"padding", 2}}},
        Geometry{{5, 16, 9, 6}, {16, 1, 3, 2}, {{"groups", 16}, {"dilation", List{2, 3}}}},
        Geometry{{2, 14, 1, 1}, {14, 1, 3, 3}, {{"groups", 14}, {"padding", 1}, {"stride", 2}}},
        Geometry{{0, 16, 5, 5}, {16, 1, 3, 3}, {{"groups", 16}}},
        // Images are so small that the rows of tiles are samples.
        Geometry{{17, 20, 1, 1}, {48, 20, 3, 3}, {{"padding", 1}}},
        Geometry{{9, 33, 2, 2}, {64, 33, 3, 3}, {{"padding", 1}}},
        Geometry{{5, 40, 4, 4}, {32, 20, 1, 1}, {{"stride", 2}, {"groups", 2}}},
        Geometry{{3, 16, 8, 8}, {80, 16, 3, 3}, {{"stride", 2}, {"padding", 1}}},
        Geometry{{2, 18, 5, 7}, {16, 18, 2, 3}, {{"stride", List{3, 2}}, {"padding", List{1, 2}}}},
        Geometry{{4, 16, 3, 2}, {32, 16, 3, 3}, {{"padding", 4}, {"dilation", 3}}},
        // No place sees a pixel through the first and the last row of the kernel.
        Geometry{{3, 20, 1, 9}, {32, 20, 3, 3}, {{"padding", 1}}},
        Geometry{{3, 20, 2, 6}, {32, 20, 5, 5}, {{"padding", 2}}},
        Geometry{{0, 16, 2, 2}, {16, 16, 3, 3}, {{"padding", 1}}},
        Geometry{{0, 2, 6, 6}, {3, 2, 3, 3}, {}}));

TEST(Conv2dInputGradient, IsNotComputedForTheDataItself) {
  testing::Tape tape;
  const ValueId x = tape.leaf(testing::uniform({2, 1, 6, 6}, 1));
  const ValueId weight = tape.leaf(testing::uniform({3, 1, 3, 3}, 2));
  const ValueId y = tape.apply(conv2d, {x, weight})[0];
  tape.backward(y, testing::uniform(tape[y].shape(), 3), {weight});
  std::size_t weight_gradients = 0;
  for (const Node& node : tape.graph().nodes) {
    EXPECT_NE(node.op, &conv2d_input_gradient);
    weight_gradients += node.op == &conv2d_weight_gradient ? 1 : 0;
  }
  EXPECT_EQ(weight_gradients, 1U);
}

}  // namespace
}  // namespace penstock::graph
