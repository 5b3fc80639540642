#include "engine/names/name_pattern.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock {
namespace {

TEST(NamePattern, MatchesWholeNames) {
  EXPECT_TRUE(matches("fc.weight", "fc.weight"));
  EXPECT_FALSE(matches("fc.weight", "fc.weights"));
  EXPECT_FALSE(matches("fc.weight", "a.fc.weight"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
}

TEST(NamePattern, HasStarsForAnyCharactersAndQuestionMarksForOne) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*", "fc.weight"));
  EXPECT_TRUE(matches("h.*.weight", "h.0.attn.qkv.weight"));
  EXPECT_FALSE(matches("h.*.weight", "h.0.attn.qkv.bias"));
  EXPECT_TRUE(matches("h.?.fc", "h.7.fc"));
  EXPECT_FALSE(matches("h.?.fc", "h.12.fc"));
  EXPECT_FALSE(matches("h.?", "h."));
  EXPECT_TRUE(matches("*ab*ab", "abxabyab"));
  EXPECT_TRUE(matches("a**b*", "ab"));
  EXPECT_FALSE(matches("*a?b*", "ab"));
  EXPECT_TRUE(matches("*a?b*", "aaab"));
}

TEST(NamePattern, TakesNoLongTimeForManyStars) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  EXPECT_FALSE(matches(pattern + "b", std::string(20'000, 'a')));
}

}  // namespace
}  // namespace penstock
