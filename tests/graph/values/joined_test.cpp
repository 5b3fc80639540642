#include "graph/values/joined.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock {
namespace {

TEST(Joined, SeparatesAllItemsEvenIfSomeAreEmpty) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(joined(Texts{}), "");
  EXPECT_EQ(joined(Texts{"a"}), "a");
  EXPECT_EQ(joined(Texts{"", "a", ""}), ", a, ");
}

TEST(Joined, WritesWhatAFunctionSaysOfEachItem) {
  EXPECT_EQ(joined(
                std::vector{1, 2}, [](int i) { return std::to_string(10 * i); }, "+"),
            "10+20");
}

}  // namespace
}  // namespace penstock
