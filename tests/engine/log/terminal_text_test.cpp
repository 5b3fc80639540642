#include "penstock/terminal_text.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(TerminalText, CannotSteerATerminal) {
  EXPECT_EQ(terminal_text("a\x1b[2Jb\n\t\x7f"), "a?[2Jb???");
  EXPECT_EQ(terminal_text("\xc2\x9b"
                          "2J"),
            "??2J")
      << "a control character of two bytes";
  EXPECT_EQ(terminal_text("gr\xc3\xbc\xc3\x9f"
                          "e"),
            "gr\xc3\xbc\xc3\x9f"
            "e");
  EXPECT_EQ(terminal_text("\xff\xc3"), "??");
  EXPECT_EQ(terminal_text("\xed\xa0\x80"), "???") << "half of a surrogate pair";
  EXPECT_EQ(terminal_text("a\u202eb\u2066c\u200ed"), "a?b?c?d") << "directions of a text";
}

}  // namespace
}  // namespace penstock
