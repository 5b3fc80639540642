#include "graph/ir/random.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace penstock::graph {
namespace {

using Block = std::array<std::uint32_t, 4>;

// The expected blocks are those published with Random123.
TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32_10({ones, ones, ones, ones}, {ones, ones}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Philox, DependsOnEveryFieldOfTheKeyAndOnTheWholeIndex) {
  const RandomKey key{.seed = 1, .update = 2, .replica = 3, .micro_batch = 4, .name = 5};
  std::vector<RandomKey> keys(6, key);
  keys[1].seed = 2;
  keys[2].update = 3;
  keys[3].replica = 4;
  keys[4].micro_batch = 5;
  keys[5].name = 6;
  std::set<Block> blocks;
  for (const RandomKey& other : keys) blocks.insert(philox(other, 0));
  for (const std::uint64_t index : {std::uint64_t{1}, std::uint64_t{1} << 32})
    blocks.insert(philox(key, index));
  EXPECT_EQ(blocks.size(), 8u);
  EXPECT_EQ(philox(key, 7), philox(key, 7));
}

TEST(Philox, TellsReplicaAndMicroBatchApart) {
  EXPECT_NE(philox({.replica = 1, .micro_batch = 0}, 0),
            philox({.replica = 0, .micro_batch = 1}, 0));
}

TEST(ToUnit, StaysBelowOne) {
  EXPECT_EQ(to_unit(0), 0.0f);
  EXPECT_EQ(to_unit(0x80000000), 0.5f);
  EXPECT_LT(to_unit(0xffffffff), 1.0f);
}

TEST(HashName, IsFnv1a) {
  EXPECT_EQ(hash_name(""), 0xcbf29ce484222325u);
  EXPECT_EQ(hash_name("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(hash_name("foobar"), 0x85944171f73967e8u);
}

}  // namespace
}  // namespace penstock::graph
