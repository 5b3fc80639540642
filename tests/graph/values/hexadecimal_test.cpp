#include "graph/values/hexadecimal.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(Hexadecimal, HasZerosBeforeSmallNumbersAndCutsNoLargeOnes) {
  EXPECT_EQ(hexadecimal(0, 4), "0000");
  EXPECT_EQ(hexadecimal(0x803, 8), "00000803");
  EXPECT_EQ(hexadecimal(0xabcdef, 4), "abcdef");
  EXPECT_EQ(hexadecimal(~std::uint64_t{0}, 16), "ffffffffffffffff");
}

}  // namespace
}  // namespace penstock
