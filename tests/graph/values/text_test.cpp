#include "graph/values/text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock {
namespace {

TEST(Printable, ShortTextsStayAsTheyAre) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(printable("/a b/\xC3\xA9.txt"), "/a b/\xC3\xA9.txt");
  EXPECT_EQ(quoted_name("fc.weight"), "\"fc.weight\"");
}

TEST(Printable, LongTextsAreCutBetweenCharacters) {
  EXPECT_EQ(shortened("abcd", 3), "abc...");
  EXPECT_EQ(shortened("ab\xC3\xA9", 3), "ab...");
  EXPECT_EQ(shortened("\x80\x80\x80\x80", 2), "...");
  EXPECT_EQ(shortened(std::string(10'000, 'x')).size(), longest_message + 3);
  EXPECT_EQ(printable(std::string(10'000, 'x')).size(), longest_message + 3);
  EXPECT_EQ(quoted_text(std::string(10'000, 'x')), '"' + std::string(100, 'x') + "...\"");
  EXPECT_EQ(quoted_name(std::string(10'000, 'x')), '"' + std::string(100, 'x') + "...\"");
}

TEST(Printable, ControlCharactersBecomeQuestionMarks) {
  EXPECT_EQ(printable(std::string_view("a\nb\x1b[1m\x7f\0", 9)), "a?b?[1m??");
  EXPECT_EQ(quoted_name("a\nb\xC3"), "\"a?b?\"");
  EXPECT_EQ(quoted_text("a\nb\xC3\xA9"), "\"a?b\xC3\xA9\"");
}

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

TEST(Hexadecimal, HasZerosBeforeSmallNumbersAndCutsNoLargeOnes) {
  EXPECT_EQ(hexadecimal(0, 4), "0000");
  EXPECT_EQ(hexadecimal(0x803, 8), "00000803");
  EXPECT_EQ(hexadecimal(0xabcdef, 4), "abcdef");
  EXPECT_EQ(hexadecimal(~std::uint64_t{0}, 16), "ffffffffffffffff");
}

TEST(CountText, HasAPluralButForOne) {
  EXPECT_EQ(count_text(0, "sample"), "0 samples");
  EXPECT_EQ(count_text(1, "sample"), "1 sample");
  EXPECT_EQ(count_text(2, "sample"), "2 samples");
}

}  // namespace
}  // namespace penstock
