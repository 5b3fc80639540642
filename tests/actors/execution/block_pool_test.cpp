#include "actors/execution/block_pool.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "graph/values/memory.hpp"

namespace penstock::actors {
namespace {

using Held = std::vector<std::shared_ptr<std::byte>>;

Held take(BlockPool& pool, int count, std::size_t bytes) {
  Held held;
  for (int i = 0; i < count; ++i) held.push_back(pool.take(bytes));
  return held;
}

std::uint64_t blocks() {
  return memory_counters().blocks_allocated;
}

TEST(BlockPool, HandsOutAgainWhatWasDropped) {
  BlockPool pool;
  const std::byte* const first = pool.take(100).get();
  const std::uint64_t before = blocks();
  for (int round = 0; round < 100; ++round) {
    pool.begin_round();
    EXPECT_EQ(pool.take(100).get(), first);
  }
  EXPECT_EQ(blocks(), before);
}

TEST(BlockPool, GivesBackWhatWasHeldAtOnceAndIsNotAnyMore) {
  const std::uint64_t before = memory_counters().bytes_live;
  BlockPool pool;
  Held held = take(pool, 100, 64'000);
  EXPECT_EQ(memory_counters().bytes_live, before + 100 * 64'000);
  held.clear();
  for (std::uint64_t round = 0; round <= BlockPool::idle_rounds; ++round) {
    pool.begin_round();
    take(pool, 2, 64'000);
  }
  EXPECT_EQ(memory_counters().bytes_live, before + 2 * 64'000) << "what is still of use";
}

// The pool allocates nothing, no matter for how many rounds each block is held.
TEST(BlockPool, AllocatesNothingWhileTheSameNumberIsAlwaysHeld) {
  BlockPool pool;
  constexpr std::size_t many = 3 * BlockPool::idle_rounds;
  std::vector<Held> ring(many);
  const auto go_round = [&](std::size_t rounds) {
    for (std::size_t round = 0; round < rounds; ++round) {
      pool.begin_round();
      Held next = take(pool, 3, 100);
      ring[round % many] = std::move(next);
    }
  };
  go_round(2 * many);
  const std::uint64_t before = blocks();
  go_round(4 * many);
  EXPECT_EQ(blocks(), before);
}

TEST(BlockPool, DoesNotHandOutMuchMemoryForLittle) {
  BlockPool pool;
  const std::byte* const large = pool.take(1 << 20).get();
  const auto small = pool.take(64);
  EXPECT_NE(small.get(), large) << "who holds a number does not hold a megabyte";
  EXPECT_EQ(pool.take(1 << 19).get(), large);
  EXPECT_EQ(pool.take(1 << 20).get(), large);
}

TEST(BlockPool, HandsOutTheSmallestBlockThatIsLargeEnough) {
  BlockPool pool;
  const std::byte* small = nullptr;
  {
    const auto first = pool.take(4000), second = pool.take(1000);
    small = second.get();
  }
  EXPECT_EQ(pool.take(900).get(), small);
}

TEST(BlockPool, MayEndBeforeItsBlocksAre) {
  const std::uint64_t before = memory_counters().bytes_live;
  std::shared_ptr<std::byte> held;
  {
    BlockPool pool;
    held = pool.take(640);
    pool.take(64);
  }
  EXPECT_EQ(memory_counters().bytes_live, before + 640);
  held.reset();
  EXPECT_EQ(memory_counters().bytes_live, before);
}

}  // namespace
}  // namespace penstock::actors
