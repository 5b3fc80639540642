#include "actors/loader/loader_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "tests/support/refusal.hpp"

namespace penstock::actors {
namespace {

using Order = std::vector<std::int64_t>;

/// Returns the numbers of the samples in batch number `batch` of `plan`.
Order samples_of(const EpochPlan& plan, std::int64_t batch) {
  Order samples;
  for (std::int64_t row = 0; row < plan.rows_of(batch); ++row)
    samples.push_back(plan.sample(plan.begin_of(batch) + row));
  return samples;
}

TEST(ShuffledOrder, HasEverySampleOnce) {
  EXPECT_EQ(shuffled_order(0, 9, 3), Order{});
  for (const std::int64_t samples : {1, 2, 3, 1000}) {
    Order order = shuffled_order(samples, 5, 1), every(static_cast<std::size_t>(samples));
    std::sort(order.begin(), order.end());
    std::iota(every.begin(), every.end(), 0);
    EXPECT_EQ(order, every);
  }
}

TEST(ShuffledOrder, DependsOnSeedAndEpochAlone) {
  EXPECT_EQ(shuffled_order(100, 1, 2), shuffled_order(100, 1, 2));
  std::set<Order> orders;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (std::uint64_t epoch = 0; epoch < 10; ++epoch)
      orders.insert(shuffled_order(100, seed, epoch));
  EXPECT_EQ(orders.size(), 100u);
}

TEST(ShuffledOrder, HasEveryPermutationEquallyOften) {
  std::map<Order, int> counts;
  for (std::uint64_t epoch = 0; epoch < 24'000; ++epoch) ++counts[shuffled_order(4, 3, epoch)];
  ASSERT_EQ(counts.size(), 24u);
  // Each order occurs 1000 times on average, with a standard deviation of 31.
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 150);
}

TEST(ShuffledOrder, IsRefusedWhereThereIsNoMemoryForIt) {
  for (const std::int64_t samples : {std::int64_t{1} << 56, std::int64_t{1} << 62})
    EXPECT_EQ(testing::refusal(Errc::out_of_memory, [&] { shuffled_order(samples, 0, 0); }),
              "data loader: no memory for the shuffled order of " + std::to_string(samples) +
                  " samples, which takes 8 bytes for each of them");
}

TEST(PartWindow, R2_5_LeavesOutTheNextNeighboursInEveryEpoch) {
  const auto part = [](int index, std::uint64_t epoch) {
    const OrderWindow window = partition_window(7, {index, 2, 2}, epoch);
    return Order{window.position(0), window.position(1)};
  };
  const auto parts = [&](std::uint64_t epoch) { return std::pair(part(0, epoch), part(1, epoch)); };
  EXPECT_EQ(parts(0), (std::pair<Order, Order>({3, 4}, {5, 6})));
  EXPECT_EQ(parts(1), (std::pair<Order, Order>({0, 1}, {2, 6})));
  EXPECT_EQ(parts(2), (std::pair<Order, Order>({2, 3}, {4, 5})));
  EXPECT_EQ(parts(7), parts(0));
  EXPECT_EQ(parts(~std::uint64_t{0}), parts(~std::uint64_t{0} % 7));
}

TEST(EpochPlan, OfEqualBatchesMayEndWithAShortOneOrLeaveSamplesOut) {
  const EpochPlan plan{.order = {4, 5, 6, 7, 8}, .equal = {.samples = 5, .rows = 2, .count = 3}};
  EXPECT_EQ(plan.batches(), 3);
  EXPECT_EQ(plan.most_rows(), 2);
  EXPECT_EQ(samples_of(plan, 1), (Order{6, 7}));
  EXPECT_EQ(samples_of(plan, 2), Order{8});
  const EpochPlan whole{.order = plan.order, .equal = {.samples = 5, .rows = 2, .count = 2}};
  EXPECT_EQ(whole.batches(), 2);
  EXPECT_EQ(samples_of(whole, 1), (Order{6, 7}));
}

TEST(EpochPlan, OfUnequalBatchesKnowsTheLargest) {
  const EpochPlan plan{.order = {9, 9, 1, 2, 3}, .ends = {1, 4, 5}};
  EXPECT_EQ(plan.batches(), 3);
  EXPECT_EQ(plan.most_rows(), 3);
  EXPECT_EQ(samples_of(plan, 1), (Order{9, 1, 2}));
}

TEST(EpochPlan, WithoutAnOrderVisitsTheSamplesByTheirNumbersHoweverManyThereAre) {
  constexpr std::int64_t many = std::int64_t{1} << 62;
  const EpochPlan plan{.equal = {.samples = many, .rows = 2, .count = many / 2}};
  EXPECT_EQ(plan.batches(), many / 2);
  EXPECT_EQ(samples_of(plan, many / 2 - 1), (Order{many - 2, many - 1}));
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
