// These tests check convolutions and their gradients, over geometries around every edge of a tile,
// a panel, a band and a block of channels, with images that are read where they lie and with images
// that are packed. All numbers are small and whole, so that floats hold their sums exactly, and
// results must be equal and not only close. Each buffer has exactly the size that is asked for, so
// that a sanitizer notices an access outside.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "graph/ops/convolution/products/conv2d_products.hpp"
#include "graph/plan/sharing.hpp"
#include "tests/support/float_vectors.hpp"

namespace penstock::graph {
namespace {

using testing::poisoned;
using testing::whole_numbers;

using List = std::vector<std::int64_t>;

struct Geometry {
  Shape x;
  std::int64_t outputs;
  Pair kernel;
  Attributes attributes = {};
};

void PrintTo(const Geometry& geometry, std::ostream* stream) {
  *stream << to_string(geometry.x) << " to " << geometry.outputs << ", kernel "
          << geometry.kernel[0] << "x" << geometry.kernel[1];
}

Conv2dGeometry sizes_of(const Geometry& geometry) {
  const Shape& x = geometry.x;
  const Shape weight{geometry.outputs, x[1] / geometry.attributes.integer("groups", 1),
                     geometry.kernel[0], geometry.kernel[1]};
  const Pair out =
      window_counts(conv_window(geometry.attributes, geometry.kernel), {DType::f32, x});
  return {geometry.attributes, x, weight, {x[0], geometry.outputs, out[0], out[1]}};
}

/// Calls `work(x, weight, y)` for each product of the convolution. `x` and `weight` are the
/// positions of the pixel and the weight that are multiplied, and `y` is the position of the result
/// to which the product is added.
template <class Work>
void for_each_product(const Conv2dGeometry& conv, Work work) {
  const Window2d& window = conv.window;
  const auto at = [](std::int64_t plane, std::int64_t height, std::int64_t width, std::int64_t row,
                     std::int64_t column) {
    return static_cast<std::size_t>((plane * height + row) * width + column);
  };
  for (std::int64_t plane = 0; plane < conv.n * conv.o; ++plane)
    for (std::int64_t pixel = 0; pixel < conv.pixels(); ++pixel)
      for (std::int64_t cell = 0; cell < conv.depth(); ++cell) {
        const std::int64_t o = plane % conv.o, group = o / conv.group_outputs();
        const std::int64_t tap = cell % window.cells(), channel = cell / window.cells();
        const std::int64_t row = window.position(0, pixel / conv.ow, tap / window.kernel[1]);
        const std::int64_t column = window.position(1, pixel % conv.ow, tap % window.kernel[1]);
        if (row < 0 || row >= conv.h || column < 0 || column >= conv.w) continue;
        const std::int64_t source = plane / conv.o * conv.c + group * conv.group_inputs() + channel;
        work(at(source, conv.h, conv.w, row, column),
             static_cast<std::size_t>(o * conv.depth() + cell),
             static_cast<std::size_t>(plane * conv.pixels() + pixel));
      }
}

class Convolve : public ::testing::TestWithParam<Geometry> {
 protected:
  const Conv2dGeometry conv_ = sizes_of(GetParam());
  const std::vector<float> x_ = whole_numbers(conv_.n * conv_.c * conv_.h * conv_.w, 1);
  const std::vector<float> weight_ = whole_numbers(conv_.o * conv_.depth(), 2);
  const std::vector<float> bias_ = whole_numbers(conv_.o, 3);
  const std::vector<float> y_ = whole_numbers(conv_.n * conv_.o * conv_.pixels(), 4);
};

TEST_P(Convolve, SumsOverTheWindow) {
  std::vector<float> expected(y_.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = bias_[i / static_cast<std::size_t>(conv_.pixels()) % bias_.size()];
  for_each_product(conv_, [&](std::size_t x, std::size_t weight, std::size_t y) {
    expected[y] += x_[x] * weight_[weight];
  });
  for (const std::int32_t parts : {1, 2, 5}) {
    auto y = poisoned(conv_.n * conv_.o * conv_.pixels(), 0x5a);
    const Sharing sharing{.units = convolve_units(conv_), .parts = parts};
    for (std::int32_t part = 0; part < parts; ++part) {
      auto workspace = poisoned(convolve_floats(conv_), 0xff);
      convolve(conv_, piece_of(sharing, part), x_.data(), weight_.data(), bias_.data(), {},
               y.data(), workspace.data());
    }
    EXPECT_EQ(y, expected);
  }
}

TEST_P(Convolve, LeavesNothingBelowZeroIfAskedTo) {
  auto workspace = poisoned(convolve_floats(conv_), 0xff);
  auto expected = poisoned(conv_.n * conv_.o * conv_.pixels(), 0x5a), y = expected;
  convolve(conv_, {}, x_.data(), weight_.data(), bias_.data(), {}, expected.data(),
           workspace.data());
  for (float& value : expected) value = std::max(value, 0.0f);
  convolve(conv_, {}, x_.data(), weight_.data(), bias_.data(), relu_if(true), y.data(),
           workspace.data());
  EXPECT_EQ(y, expected);
}

TEST_P(Convolve, SendsGradientsBackToThePixels) {
  std::vector<float> expected(x_.size());
  for_each_product(conv_, [&](std::size_t x, std::size_t weight, std::size_t y) {
    expected[x] += y_[y] * weight_[weight];
  });
  for (const std::int32_t parts : {1, 2, 5}) {
    auto dx = poisoned(static_cast<std::int64_t>(x_.size()), 0x5a);
    const Sharing sharing{.units = convolve_input_gradient_units(conv_), .parts = parts};
    for (std::int32_t part = 0; part < parts; ++part) {
      auto workspace = poisoned(convolve_input_gradient_floats(conv_), 0xff);
      convolve_input_gradient(conv_, piece_of(sharing, part), y_.data(), weight_.data(), dx.data(),
                              workspace.data());
    }
    EXPECT_EQ(dx, expected);
  }
}

TEST_P(Convolve, SendsGradientsBackToTheWeights) {
  std::vector<float> expected(weight_.size());
  for_each_product(conv_, [&](std::size_t x, std::size_t weight, std::size_t y) {
    expected[weight] += y_[y] * x_[x];
  });
  for (const std::int32_t parts : {1, 2, 5}) {
    auto dweight = poisoned(static_cast<std::int64_t>(weight_.size()), 0x5a);
    const Sharing sharing{.units = convolve_weight_gradient_units(conv_), .parts = parts};
    for (std::int32_t part = 0; part < parts; ++part) {
      auto workspace = poisoned(convolve_weight_gradient_floats(conv_), 0xff);
      convolve_weight_gradient(conv_, piece_of(sharing, part), x_.data(), y_.data(), dweight.data(),
                               workspace.data());
    }
    EXPECT_EQ(dweight, expected);
  }
}

constexpr unsigned char poison = 0x5a;

/// Returns dx after one part of a divided call. Every byte that the part has not written is
/// `poison`.
std::vector<float> input_gradient(const Conv2dGeometry& conv, Part part,
                                  const std::vector<float>& dy, const std::vector<float>& weight) {
  auto dx = poisoned(conv.n * conv.c * conv.h * conv.w, poison);
  auto workspace = poisoned(convolve_input_gradient_floats(conv), 0xff);
  convolve_input_gradient(conv, part, dy.data(), weight.data(), dx.data(), workspace.data());
  return dx;
}

bool same_bits(float a, float b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

TEST_P(Convolve, DividesTheInputGradientOfInfiniteWeightsAsThatOfFiniteOnes) {
  if (weight_.empty() || x_.empty()) return;
  const float never = poisoned(1, poison)[0];
  for (const float value :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> weight = weight_;
    weight[weight.size() / 2] = value;
    const std::vector<float> whole = input_gradient(conv_, {}, y_, weight);
    const Sharing sharing{.units = convolve_input_gradient_units(conv_), .parts = 3};
    for (std::int32_t part = 0; part < sharing.parts; ++part) {
      const Part piece = piece_of(sharing, part);
      const std::vector<float> finite = input_gradient(conv_, piece, y_, weight_);
      const std::vector<float> infinite = input_gradient(conv_, piece, y_, weight);
      int wrong = 0;
      for (std::size_t i = 0; i < whole.size(); ++i)
        wrong += same_bits(infinite[i], same_bits(finite[i], never) ? never : whole[i]) ? 0 : 1;
      EXPECT_EQ(wrong, 0) << value << " in part " << part;
    }
  }
}

const Attributes pad_one{{"padding", 1}};

INSTANTIATE_TEST_SUITE_P(
    Geometries, Convolve,
    ::testing::Values(
        Geometry{{1, 1, 1, 1}, 1, {1, 1}}, Geometry{{0, 2, 6, 6}, 3, {3, 3}},
        Geometry{{3, 16, 8, 8}, 14, {3, 3}, pad_one},  // Whole panels make up a sample.
        Geometry{{9, 5, 8, 8}, 15, {3, 3}, pad_one},   // There is more than one band of samples.
        // There is more than one block of channels.
        Geometry{{2, 33, 16, 16}, 29, {3, 3}, pad_one},
        Geometry{{5, 7, 7, 7}, 17, {3, 3}, pad_one},  // Panels lie across samples.
        // There are more results than are packed at once.
        Geometry{{2, 5, 4, 64}, 530, {3, 3}, pad_one},
        // In the input gradient, there are more results than are packed at once.
        Geometry{{2, 530, 4, 4}, 5, {3, 3}, pad_one},
        // There are more taps than a vector has lanes.
        Geometry{{2, 33, 7, 12}, 4, {5, 5}, pad_one},
        Geometry{{2, 3, 30, 41}, 5, {5, 3}, {{"padding", List{2, 0}}}},  // There are bands of rows.
        Geometry{{1, 2, 3, 700}, 3, {1, 3}, pad_one},  // A row is longer than a band.
        Geometry{{70, 3, 5, 5}, 4, {5, 5}},            // A sample has one result per channel.
        Geometry{{4, 64, 8, 8}, 20, {1, 1}},  // A kernel of one tap takes images as they are.
        Geometry{{3, 300, 4, 4}, 9, {1, 1}}, Geometry{{2, 3, 40, 40}, 2, {17, 17}},
        // A window's rows never leave the image, and several windows share a row.
        Geometry{{3, 6, 24, 8}, 13, {3, 1}},
        Geometry{{3, 4, 9, 10}, 5, {3, 3}, {{"stride", 2}, {"padding", 1}}},
        Geometry{{2, 20, 9, 9}, 5, {1, 1}, {{"stride", 2}}},  // No tap sees some pixels.
        // No tap sees pixels with some remainders of the row or the column by the stride.
        Geometry{{2, 3, 11, 14}, 4, {2, 3}, {{"stride", List{3, 4}}}},
        Geometry{{2, 3, 13, 12}, 4, {3, 2}, {{"dilation", List{2, 3}}, {"padding", 3}}},
        Geometry{{2, 3, 17, 16}, 4, {4, 3}, {{"stride", List{4, 2}}, {"dilation", List{2, 3}}}},
        Geometry{{3, 2, 4, 4}, 2, {3, 3}, {{"padding", 5}}},  // Windows lie wholly in the padding.
        // Some columns of the kernel see no pixel.
        Geometry{{1, 3, 1, 1}, 4, {1, 4}, {{"padding", List{0, 2}}}},
        Geometry{{2, 5, 2, 1}, 6, {2, 3}, {{"padding", List{1, 1}}}},
        Geometry{{2, 8, 10, 10}, 16, {3, 3}, {{"groups", 8}, {"padding", 1}}},
        Geometry{{3, 12, 6, 5}, 36, {3, 3}, {{"groups", 2}, {"stride", 2}, {"padding", 2}}}));

// With many channels and results, images are read where they lie.
INSTANTIATE_TEST_SUITE_P(
    WideGeometries, Convolve,
    ::testing::Values(
        Geometry{{0, 16, 6, 6}, 16, {3, 3}, pad_one}, Geometry{{3, 16, 8, 8}, 16, {3, 3}, pad_one},
        Geometry{{9, 17, 8, 8}, 32, {3, 3}, pad_one},  // There are bands of samples.
        // There are bands of rows, in tiles of two sizes.
        Geometry{{2, 16, 30, 41}, 16, {3, 3}, pad_one},
        Geometry{{5, 40, 5, 13}, 31, {3, 3}, pad_one},  // Results do not fill vectors.
        Geometry{{2, 33, 9, 4}, 46, {3, 3}, pad_one},   // There is a panel of one vector.
        Geometry{{1, 230, 4, 5}, 70, {3, 3}, pad_one},  // Weights are packed panel by panel.
        // In the gradient, weights are packed panel by panel.
        Geometry{{2, 70, 4, 5}, 230, {3, 3}, pad_one},
        // A tap leaves out up to two pixels at the ends of a row.
        Geometry{{2, 20, 6, 15}, 16, {5, 5}, {{"padding", 2}}},
        // In the input gradient, a tap leaves out up to two pixels at the ends of a row, with tiles
        // of few places.
        Geometry{{3, 18, 7, 9}, 32, {3, 3}}, Geometry{{2, 16, 5, 4}, 16, {3, 3}, {{"padding", 2}}},
        Geometry{{2, 16, 4, 7}, 16, {3, 1}, {{"padding", List{1, 0}}}},
        Geometry{{2, 16, 4, 7}, 16, {1, 3}, {{"padding", List{0, 1}}}},
        Geometry{{2, 16, 9, 9}, 16, {3, 3}, {{"padding", 2}, {"dilation", 2}}},
        Geometry{{2, 16, 9, 12}, 16, {3, 3}, {{"padding", List{3, 1}}, {"dilation", List{4, 1}}}},
        Geometry{{2, 32, 6, 5}, 64, {3, 3}, {{"groups", 2}, {"padding", 1}}},
        Geometry{{2, 9, 9, 10}, 16, {3, 3}, {{"stride", 2}, {"padding", 1}}},
        Geometry{{2, 16, 7, 8}, 30, {1, 1}, {{"stride", List{3, 1}}}},
        Geometry{{3, 16, 4, 4}, 16, {3, 3}, {{"padding", 5}}},
        Geometry{{3, 200, 5, 5}, 220, {1, 1}}, Geometry{{2, 192, 1, 4}, 16, {1, 1}},
        Geometry{{2, 300, 20, 15}, 30, {1, 1}},  // Rows are joined, and worked on in bands.
        // With a stride, the input gradient has gaps. It is summed over many results here.
        Geometry{{2, 16, 8, 8}, 192, {1, 1}, {{"stride", 2}}},
        Geometry{{2, 32, 9, 8}, 200, {3, 3}, {{"stride", 2}, {"padding", 1}}},
        Geometry{{2, 16, 8, 8}, 192, {2, 2}, {{"stride", 2}}},
        Geometry{{2, 16, 6, 8}, 192, {1, 1}, {{"stride", List{2, 1}}}},
        Geometry{{2, 16, 6, 8}, 192, {1, 1}, {{"stride", List{1, 2}}}},
        Geometry{{2, 32, 6, 8}, 400, {1, 1}, {{"groups", 2}, {"stride", 2}}},
        Geometry{{2, 16, 1, 9}, 16, {3, 3}, pad_one},  // Kernels are larger than the image.
        Geometry{{2, 16, 4, 4}, 16, {5, 5}, {{"padding", 2}}},
        Geometry{{2, 16, 2, 6}, 16, {5, 5}, {{"padding", 2}}},
        Geometry{{2, 16, 1, 1}, 16, {1, 1}, pad_one},
        Geometry{{2, 16, 3, 4}, 16, {1, 1}, {{"padding", 2}}}, Geometry{{2, 192, 4, 1}, 16, {1, 1}},
        Geometry{{1, 192, 1, 300}, 16, {1, 1}}, Geometry{{2, 16, 3, 40}, 16, {1, 17}},
        Geometry{{2, 16, 3, 40}, 16, {1, 16}},
        Geometry{{2, 16, 11, 12}, 16, {3, 3}, {{"stride", 2}, {"dilation", 2}}},
        // The planes drive each other out of the cache.
        Geometry{{1, 192, 32, 32}, 16, {1, 1}}));

}  // namespace
}  // namespace penstock::graph
