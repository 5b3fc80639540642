#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "penstock/text.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::refusal;

std::vector<std::int64_t> numbers(const Tensor& tokens) {
  const auto elements = tokens.as<std::int64_t>();
  return {elements.begin(), elements.end()};
}

TEST(Vocabulary, NumbersCharactersInTheOrderOfTheirCodes) {
  const Vocabulary vocabulary = Vocabulary::characters("bab \xe2\x82\xac\xc3\xa9\xf0\x9f\x99\x82!");
  EXPECT_EQ(vocabulary.size(), 7);
  const char* const expected[] = {
      " ", "!", "a", "b", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x99\x82"};
  for (std::int64_t i = 0; i < 7; ++i) EXPECT_EQ(vocabulary.token(i), expected[i]);
  const Tensor tokens = vocabulary.encode(
      "\xc3\xa9"
      "ab!");
  EXPECT_EQ(tokens.shape(), Shape{4});
  EXPECT_EQ(numbers(tokens), (std::vector<std::int64_t>{4, 2, 3, 1}));
  EXPECT_EQ(vocabulary.decode(tokens.as<std::int64_t>()),
            "\xc3\xa9"
            "ab!");
}

TEST(Vocabulary, OfBytesTakesAnyText) {
  const Vocabulary vocabulary = Vocabulary::bytes();
  EXPECT_EQ(vocabulary.size(), 256);
  const std::string text("a\0\xff\xc3", 4);
  const Tensor tokens = vocabulary.encode(text);
  EXPECT_EQ(numbers(tokens), (std::vector<std::int64_t>{97, 0, 255, 195}));
  EXPECT_EQ(vocabulary.decode(tokens.as<std::int64_t>()), text);
}

TEST(Vocabulary, RefusesWhatIsNoUtf8) {
  // These are a stray byte, a cut character, a long form of a slash, half of a surrogate pair, and
  // a code above the last one.
  for (const char* text : {"ab\x80", "ab\xe2\x82", "ab\xc0\xaf", "ab\xe0\x80\xaf", "ab\xed\xa0\x80",
                           "ab\xf4\x90\x80\x80", "ab\xff"}) {
    const std::string text_of_error =
        refusal(Errc::invalid_data, [&] { Vocabulary::characters(text); });
    EXPECT_EQ(text_of_error.find("expected UTF-8, got byte 0x"), 0U) << text_of_error;
    EXPECT_NE(text_of_error.find(" at byte 2"), std::string::npos) << text_of_error;
  }
  EXPECT_EQ(refusal(Errc::invalid_data, [] { Vocabulary::characters(""); }),
            "Vocabulary::characters: expected a text, got an empty one");
}

TEST(Vocabulary, RefusesCharactersAndNumbersThatItDoesNotHave) {
  const Vocabulary vocabulary = Vocabulary::characters("abc");
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { vocabulary.encode("abx"); }),
            "vocabulary: character \"x\" at byte 2 is not one of the 3 that there are");
  const std::vector<std::int64_t> tokens{0, 3};
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { vocabulary.decode(tokens); }),
            "Vocabulary::token: expected a number from 0 to 2, got 3");
}

TEST(Vocabulary, ReadsTextsFromFiles) {
  const testing::TemporaryDirectory directory;
  const std::string text(100'000, 'x');
  std::ofstream(directory / "text") << text;
  EXPECT_EQ(read_text((directory / "text").string()), text);
  EXPECT_NE(refusal(Errc::io_error, [&] { read_text((directory / "none").string()); }), "accepted");
}

}  // namespace
}  // namespace penstock
