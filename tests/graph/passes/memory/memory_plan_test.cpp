#include "graph/passes/memory/memory_plan.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "graph/ir/random.hpp"
#include "graph/values/memory.hpp"

namespace penstock::graph {
namespace {

std::vector<Buffer> random_buffers(std::uint64_t seed) {
  std::uint64_t next = 0;
  const auto draw = [&](std::uint32_t limit) {
    return static_cast<std::int32_t>(philox({.seed = seed}, next++)[0] % limit);
  };
  std::vector<Buffer> buffers(static_cast<std::size_t>(1 + draw(40)));
  for (Buffer& buffer : buffers) {
    buffer.first = draw(30);
    buffer.last = buffer.first + draw(8);
    buffer.bytes = draw(4) * draw(500);
  }
  return buffers;
}

bool alive_together(const Buffer& a, const Buffer& b) {
  for (std::int32_t at = a.first; at <= a.last; ++at)
    if (at >= b.first && at <= b.last) return true;
  return false;
}

TEST(MemoryPlan, NeverOverlapsTwoLiveBuffers) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto buffers = random_buffers(seed);
    const MemoryPlan plan = plan_memory(buffers);
    for (std::size_t a = 0; a < buffers.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        if (!alive_together(buffers[a], buffers[b])) continue;
        const bool apart = plan.offsets[a] + buffers[a].bytes <= plan.offsets[b] ||
                           plan.offsets[b] + buffers[b].bytes <= plan.offsets[a];
        EXPECT_TRUE(apart) << "buffers " << b << " and " << a;
      }
  }
}

TEST(MemoryPlan, AlignsEveryBufferAndStaysWithinItsBlock) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto buffers = random_buffers(seed);
    const MemoryPlan plan = plan_memory(buffers);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      EXPECT_EQ(plan.offsets[i] % 64, 0);
      EXPECT_GE(plan.offsets[i], 0);
      EXPECT_LE(plan.offsets[i] + buffers[i].bytes, plan.bytes);
      sum += aligned(buffers[i].bytes);
    }
    EXPECT_LE(plan.bytes, sum);
  }
}

TEST(MemoryPlan, GivesMemoryAgainOnceItsBufferIsDead) {
  const std::vector<Buffer> chain{{0, 1, 640}, {1, 2, 640}, {2, 3, 640}, {3, 4, 640}};
  EXPECT_EQ(plan_memory(chain).bytes, 2 * 640);
}

TEST(MemoryPlan, FillsAGapBetweenTwoLiveBuffers) {
  // The second buffer dies first, and the fourth one fits into its place.
  const std::vector<Buffer> buffers{{0, 9, 256}, {0, 1, 192}, {0, 9, 128}, {2, 9, 192}};
  EXPECT_EQ(plan_memory(buffers).bytes, 256 + 192 + 128);
}

/// Returns whether `buffers[i]` is placed before `buffers[j]`.
bool comes_first(const std::vector<Buffer>& buffers, std::size_t i, std::size_t j) {
  return buffers[i].bytes > buffers[j].bytes || (buffers[i].bytes == buffers[j].bytes && i < j);
}

/// Returns whether buffer `i` could be at `offset` without meeting a buffer that is placed before
/// it.
bool is_free(const std::vector<Buffer>& buffers, const std::vector<std::int64_t>& offsets,
             std::size_t i, std::int64_t offset) {
  for (std::size_t j = 0; j < buffers.size(); ++j) {
    if (!comes_first(buffers, j, i) || !alive_together(buffers[i], buffers[j])) continue;
    if (offset < offsets[j] + aligned(buffers[j].bytes) &&
        offsets[j] < offset + aligned(buffers[i].bytes))
      return false;
  }
  return true;
}

TEST(MemoryPlan, PutsTheLargestBufferFirstAndEachAtTheLowestFreePlace) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto buffers = random_buffers(seed);
    const std::vector<std::int64_t> offsets = plan_memory(buffers).offsets;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (buffers[i].bytes == 0) continue;
      std::int64_t lowest = 0;
      while (!is_free(buffers, offsets, i, lowest)) lowest += 64;
      EXPECT_EQ(offsets[i], lowest) << "buffer " << i;
    }
  }
}

// The test would take an hour if each buffer was compared with all others.
TEST(MemoryPlan, TakesLittleTimeForABufferWhoseLifeFewOthersShare) {
  constexpr std::int32_t many = 1 << 20;
  std::vector<Buffer> chain;
  for (std::int32_t i = 0; i < many; ++i) chain.push_back({i, i + 1, 640});
  EXPECT_EQ(plan_memory(chain).bytes, 2 * 640);
}

TEST(MemoryPlan, OfNothingIsEmpty) {
  EXPECT_EQ(plan_memory({}).bytes, 0);
}

}  // namespace
}  // namespace penstock::graph
