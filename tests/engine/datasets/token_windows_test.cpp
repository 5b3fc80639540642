#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "penstock/text.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::refusal;
using Tokens = std::vector<std::int64_t>;

Tensor counted(std::int64_t count) {
  Tokens tokens(static_cast<std::size_t>(count));
  std::iota(tokens.begin(), tokens.end(), 0);
  return {{count}, std::span<const std::int64_t>(tokens)};
}

/// Returns the window of a sample, after checking that each token is followed by the next one.
Tokens window(const Dataset& dataset, std::int64_t index, std::uint64_t epoch = 0) {
  const auto length = static_cast<std::size_t>(dataset.fields()[0].shape[0]);
  Tokens tokens(length), next(length);
  std::byte* const destinations[] = {reinterpret_cast<std::byte*>(tokens.data()),
                                     reinterpret_cast<std::byte*>(next.data())};
  dataset.read({.index = index, .epoch = epoch}, destinations);
  for (std::size_t i = 0; i < length; ++i) EXPECT_EQ(next[i], tokens[i] + 1);
  return tokens;
}

TEST(TokenWindows, StandSideBySideInOrder) {
  const auto dataset = token_windows(counted(13), 4, WindowStart::in_order);
  ASSERT_EQ(dataset->size(), 3);
  EXPECT_EQ(window(*dataset, 0), (Tokens{0, 1, 2, 3}));
  EXPECT_EQ(window(*dataset, 2), (Tokens{8, 9, 10, 11}));
  EXPECT_EQ(token_windows(counted(12), 4, WindowStart::in_order)->size(), 2)
      << "the last window needs a token behind it";
  EXPECT_EQ(dataset->fields()[0].name, "tokens");
  EXPECT_EQ(dataset->fields()[1].name, "next");
}

TEST(TokenWindows, BeginAnywhereByTheSeedAndTheEpoch) {
  const auto dataset = token_windows(counted(13), 4, WindowStart::random, 7);
  std::set<std::int64_t> starts;
  for (std::uint64_t epoch = 0; epoch < 100; ++epoch)
    for (std::int64_t i = 0; i < dataset->size(); ++i) starts.insert(window(*dataset, i, epoch)[0]);
  EXPECT_EQ(starts, (std::set<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));

  const auto many = token_windows(counted(10'001), 4, WindowStart::random, 7);
  EXPECT_EQ(window(*many, 3, 2), window(*many, 3, 2));
  EXPECT_NE(window(*many, 3, 2), window(*many, 4, 2));
  EXPECT_NE(window(*many, 3, 2), window(*many, 3, 3));
  EXPECT_NE(window(*many, 3, 2),
            window(*token_windows(counted(10'001), 4, WindowStart::random, 8), 3, 2));
}

TEST(TokenWindows, ThatBeginAnywhereHaveEachTokenOnceInAnEpoch) {
  const auto dataset = token_windows(counted(10'001), 4, WindowStart::random, 7);
  std::set<std::int64_t> tokens;
  for (std::int64_t i = 0; i < dataset->size(); ++i)
    for (const std::int64_t token : window(*dataset, i, 1)) tokens.insert(token);
  // Windows before the end of the text and at its beginning may share fewer than 4 tokens.
  EXPECT_GE(tokens.size(), 10'000 - 4U);
}

TEST(TokenWindows, RefuseWhatMakesNoWindow) {
  EXPECT_EQ(refusal(Errc::invalid_data, [] { token_windows(counted(4), 4); }),
            "token_windows: expected more than 4 tokens, for one window and the token behind it, "
            "got 4");
  EXPECT_EQ(token_windows(counted(5), 4)->size(), 1);
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { token_windows(counted(5), 0); }),
            "token_windows: expected a length of 1 or more, got 0");
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [] {
                      token_windows(Tensor({3}, {1, 2, 3}), 1);
                    }),
            "token_windows: expected tokens i64[count], got f32[3]");
  EXPECT_NE(refusal(Errc::shape_mismatch, [] { token_windows(Tensor(), 1); }), "accepted");
}

}  // namespace
}  // namespace penstock
