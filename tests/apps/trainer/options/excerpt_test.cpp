#include "apps/trainer/options/excerpt.hpp"

#include <gtest/gtest.h>

#include <string>

#include "apps/trainer/options/value_kind.hpp"
#include "penstock/error.hpp"

namespace trainer {
namespace {

TEST(Excerpt, IsTheTextItselfUpToItsLimit) {
  EXPECT_EQ(excerpt("", 0), "");
  EXPECT_EQ(excerpt("learning", 8), "learning");
  EXPECT_EQ(excerpt("learning", 7), "learnin...");
}

TEST(Excerpt, CutsNoCharacterInTwo) {
  EXPECT_EQ(excerpt("caf\xc3\xa9", 5), "caf\xc3\xa9");
  EXPECT_EQ(excerpt("caf\xc3\xa9s", 5), "caf\xc3\xa9...");
  EXPECT_EQ(excerpt("caf\xc3\xa9s", 4), "caf...");
  EXPECT_EQ(excerpt("\xe2\x82\xac\xe2\x82\xac", 2), "...");
}

TEST(Excerpt, HasNothingThatBreaksOrRewritesALine) {
  EXPECT_EQ(excerpt("a\nb\x1b[2Kc\x7f", 100), "a?b?[2Kc?");
}

TEST(Excerpt, IsWhatARefusedValueIsQuotedBy) {
  const auto refusal = [](const std::string& text) {
    try {
      read_switch(text);
    } catch (const penstock::Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal("no\nyes"), "expected true or false, got \"no?yes\"");
  EXPECT_EQ(refusal(std::string(99, 'x') + "\xc3\xa9"),
            "expected true or false, got \"" + std::string(99, 'x') + "...\"");
}

}  // namespace
}  // namespace trainer
