#include "graph/ir/random_run.hpp"

#include <gtest/gtest.h>

namespace penstock::graph {
namespace {

TEST(RandomRun, DrawsWhatPhiloxDrawsForEachIndex) {
  const RandomKey key{.seed = 1, .update = 2, .replica = 3, .micro_batch = 4, .name = 5};
  const RandomRun run(key);
  // The last one of these runs goes on from an index of 32 bits to one of 33 bits.
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{7}, (std::uint64_t{1} << 32) - 5}) {
    const RandomRun::Draws draws = run.draw(first);
    for (std::size_t i = 0; i < draws.size(); ++i)
      ASSERT_EQ(draws[i], philox(key, first + i / 4)[i % 4]) << first << ", draw " << i;
  }
}

}  // namespace
}  // namespace penstock::graph
