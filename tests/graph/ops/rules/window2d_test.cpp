#include "graph/ops/rules/window2d.hpp"

#include <gtest/gtest.h>

namespace penstock::graph {
namespace {

TEST(Window2d, FindsExactlyTheOutputsThatLookInside) {
  constexpr std::int64_t size = 5;
  for (std::int64_t stride = 1; stride <= 3; ++stride)
    for (std::int64_t padding = 0; padding <= 7; ++padding)
      for (std::int64_t k = 0; k < 8; ++k) {
        const Window2d window{
            .kernel = {1, 8}, .stride = {1, stride}, .padding = {0, padding}, .dilation = {1, 2}};
        const auto [begin, end] = inside(window, 1, k, size, 6);
        ASSERT_LE(begin, end);
        for (std::int64_t out = 0; out < 6; ++out) {
          const std::int64_t position = window.position(1, out, k);
          EXPECT_EQ(out >= begin && out < end, position >= 0 && position < size)
              << "stride " << stride << ", padding " << padding << ", k " << k << ", out " << out;
        }
      }
}

TEST(Window2d, TakesOneIntegerForBothAxes) {
  const Attributes attributes{{"stride", 3}, {"padding", std::vector<std::int64_t>{1, 2}}};
  EXPECT_EQ(attribute::stride.of(attributes, {1, 1}), (Pair{3, 3}));
  EXPECT_EQ(attribute::padding.of(attributes, {1, 1}), (Pair{1, 2}));
  EXPECT_EQ(attribute::dilation.of(attributes, {1, 4}), (Pair{1, 4}));
}

}  // namespace
}  // namespace penstock::graph
