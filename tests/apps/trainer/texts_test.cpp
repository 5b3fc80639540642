#include "apps/trainer/texts.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace trainer {
namespace {

using penstock::testing::TemporaryDirectory;

/// Returns the tokens of a sample, as the texts that they stand for.
std::string tokens_of(const Texts& texts, const penstock::Dataset& dataset, std::int64_t index) {
  const auto length = static_cast<std::size_t>(dataset.fields()[0].shape.elements());
  std::vector<std::int64_t> tokens(length), next(length);
  std::byte* const destinations[] = {reinterpret_cast<std::byte*>(tokens.data()),
                                     reinterpret_cast<std::byte*>(next.data())};
  dataset.read({.index = index}, destinations);
  return texts.vocabulary.decode(tokens);
}

Texts open(const TemporaryDirectory& directory, const std::string& text, DataOptions options) {
  const std::string file = (directory / "text").string();
  penstock::testing::write_file(file, text);
  options.dataset = DatasetName::text;
  options.data_dir = file;
  return open_texts(options, 3, 0);
}

TEST(Texts, AreForTrainingInTheirFirstNineTenths) {
  const TemporaryDirectory directory;
  std::string text;
  for (int i = 0; i < 49; ++i) text += static_cast<char>('A' + i);
  const Texts texts = open(directory, text, {.no_shuffle = true});
  // Of 49 characters, 44 are for training: 14 windows, and two characters behind them.
  ASSERT_EQ(texts.train->size(), 14);
  for (std::int64_t i = 0; i < 14; ++i)
    EXPECT_EQ(tokens_of(texts, *texts.train, i), text.substr(static_cast<std::size_t>(3 * i), 3));
  ASSERT_EQ(texts.test->size(), 1);
  EXPECT_EQ(tokens_of(texts, *texts.test, 0), text.substr(44, 3));
  EXPECT_EQ(texts.vocabulary.size(), 49);
}

TEST(Texts, BeginWindowsAnywhereUnlessTheirOrderIsKept) {
  const TemporaryDirectory directory;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>('a' + i * 7 % 26);
  const Texts drawn = open(directory, text, {});
  const Texts in_order = open(directory, text, {.no_shuffle = true});
  int same = 0;
  for (std::int64_t i = 0; i < 100; ++i)
    same += tokens_of(drawn, *drawn.train, i) == tokens_of(in_order, *in_order.train, i);
  EXPECT_LT(same, 20);
  EXPECT_EQ(tokens_of(drawn, *drawn.test, 1), tokens_of(in_order, *in_order.test, 1))
      << "the rest is always in order";
}

TEST(Texts, MayConsistOfBytes) {
  const TemporaryDirectory directory;
  const std::string text(100, '\xff');
  const Texts texts = open(directory, text, {.tokens = TokenName::bytes, .no_shuffle = true});
  EXPECT_EQ(texts.vocabulary.size(), 256);
  EXPECT_EQ(tokens_of(texts, *texts.train, 0), "\xff\xff\xff");
  EXPECT_NE(
      penstock::testing::refusal(penstock::Errc::invalid_data, [&] { open(directory, text, {}); })
          .find("at byte 0; --tokens bytes takes any file"),
      std::string::npos);
}

}  // namespace
}  // namespace trainer
