#include "actors/loader/loader_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace penstock::actors {
namespace {

using Order = std::vector<std::int64_t>;

TEST(EpochOrder, IsTheFilesOrderWithoutShuffle) {
  EXPECT_EQ(epoch_order(4, false, 9, 3), (Order{0, 1, 2, 3}));
  EXPECT_EQ(epoch_order(0, true, 9, 3), Order{});
}

TEST(EpochOrder, ShuffledHasEverySampleOnce) {
  for (const std::int64_t samples : {1, 2, 3, 1000}) {
    Order order = epoch_order(samples, true, 5, 1);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, epoch_order(samples, false, 5, 1));
  }
}

TEST(EpochOrder, DependsOnSeedAndEpochAlone) {
  EXPECT_EQ(epoch_order(100, true, 1, 2), epoch_order(100, true, 1, 2));
  std::set<Order> orders;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (std::uint64_t epoch = 0; epoch < 10; ++epoch)
      orders.insert(epoch_order(100, true, seed, epoch));
  EXPECT_EQ(orders.size(), 100u);
}

TEST(EpochOrder, HasEveryPermutationEquallyOften) {
  std::map<Order, int> counts;
  for (std::uint64_t epoch = 0; epoch < 24'000; ++epoch) ++counts[epoch_order(4, true, 3, epoch)];
  ASSERT_EQ(counts.size(), 24u);
  // 1000 each, with a standard deviation of 31.
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 150);
}

TEST(PartOfOrder, R2_5_LeavesOutTheNextNeighboursInEveryEpoch) {
  const Order order = epoch_order(7, false, 0, 0);
  const auto parts = [&](std::uint64_t epoch) {
    return std::pair(part_of_order(order, {0, 2, 2}, epoch),
                     part_of_order(order, {1, 2, 2}, epoch));
  };
  EXPECT_EQ(parts(0), (std::pair<Order, Order>({3, 4}, {5, 6})));
  EXPECT_EQ(parts(1), (std::pair<Order, Order>({0, 1}, {2, 6})));
  EXPECT_EQ(parts(2), (std::pair<Order, Order>({2, 3}, {4, 5})));
  EXPECT_EQ(parts(7), parts(0));
  EXPECT_EQ(parts(~std::uint64_t{0}), parts(~std::uint64_t{0} % 7));
}

TEST(PlanBatches, MayEndWithAShortBatchOrLeaveSamplesOut) {
  const EpochPlan plan = plan_batches({4, 5, 6, 7, 8}, 2, 3);
  EXPECT_EQ(plan.ends, (Order{2, 4, 5}));
  EXPECT_EQ(plan.begin_of(2), 4);
  EXPECT_EQ(plan.rows_of(2), 1);
  EXPECT_EQ(plan.most_rows(), 2);
  EXPECT_EQ(plan_batches({4, 5, 6, 7, 8}, 2, 2).ends, (Order{2, 4}));
}

TEST(SplitRows, CoversEveryRowOnceInFairParts) {
  for (std::int64_t rows = 0; rows < 20; ++rows)
    for (int parts = 1; parts < 8; ++parts) {
      const auto ranges = split_rows(rows, parts);
      EXPECT_EQ(ranges.size(), static_cast<std::size_t>(std::min<std::int64_t>(rows, parts)));
      std::int64_t next = 0;
      for (const RowRange& range : ranges) {
        EXPECT_EQ(range.begin, next);
        EXPECT_GE(range.end - range.begin, std::max<std::int64_t>(1, rows / parts));
        EXPECT_LE(range.end - range.begin, rows / parts + 1);
        next = range.end;
      }
      EXPECT_EQ(next, rows);
    }
}

}  // namespace
}  // namespace penstock::actors
