#include "actors/execution/trace_log.hpp"

#include <gtest/gtest.h>

namespace penstock::actors {
namespace {

TraceEvent event(std::int64_t number) {
  return {.micro_batch = number};
}

std::vector<std::int64_t> numbers(const std::vector<TraceEvent>& events) {
  std::vector<std::int64_t> result;
  for (const TraceEvent& one : events) result.push_back(one.micro_batch);
  return result;
}

std::vector<std::int64_t> numbers(const TraceLog& log) {
  std::vector<TraceEvent> events;
  log.append_to(events);
  return numbers(events);
}

TEST(TraceLog, KeepsTheNewestEventsInTheirOrderAndCountsTheOthers) {
  TraceLog log(3);
  const std::vector<std::vector<std::int64_t>> kept{{0},       {0, 1},    {0, 1, 2}, {1, 2, 3},
                                                    {2, 3, 4}, {3, 4, 5}, {4, 5, 6}};
  for (std::int64_t number = 0; number < std::ssize(kept); ++number) {
    log.add(event(number));
    EXPECT_EQ(numbers(log), kept[static_cast<std::size_t>(number)]);
    EXPECT_EQ(log.dropped(), static_cast<std::uint64_t>(number < 3 ? 0 : number - 2));
  }
}

TEST(TraceLog, HandsOverEventsOnceAndStillCountsWhatWasDropped) {
  TraceLog log(2);
  for (std::int64_t number = 0; number < 5; ++number) log.add(event(number));
  EXPECT_EQ(numbers(log.take()), (std::vector<std::int64_t>{3, 4}));
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(log.dropped(), 3u);
  log.add(event(7));
  log.add(event(8));
  log.add(event(9));
  EXPECT_EQ(numbers(log.take()), (std::vector<std::int64_t>{8, 9}));
  EXPECT_EQ(log.dropped(), 4u);
}

TEST(TraceLog, BeginsAnewWhenItIsHandedOver) {
  TraceLog log(2);
  for (std::int64_t number = 0; number < 3; ++number) log.add(event(number));
  const TraceLog handed_over = log.hand_over();
  EXPECT_EQ(numbers(handed_over), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(handed_over.dropped(), 1u);
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(log.dropped(), 0u);
  for (std::int64_t number = 7; number < 10; ++number) log.add(event(number));
  EXPECT_EQ(numbers(log), (std::vector<std::int64_t>{8, 9}));
  EXPECT_EQ(log.dropped(), 1u);
}

TEST(TraceLog, TakesInWhatAnotherHasAndHasDropped) {
  TraceLog log(4), other(2);
  log.add(event(10));
  for (std::int64_t number = 0; number < 5; ++number) other.add(event(number));
  log.add(other, 0);
  EXPECT_EQ(numbers(log), (std::vector<std::int64_t>{10, 3, 4}));
  EXPECT_EQ(log.dropped(), 3u);
}

TEST(TraceLog, NumbersMicroBatchesAnewThatAnotherHasCountedFrom0) {
  TraceLog log(4), other(4);
  for (const std::int64_t number : {0, 1, -1}) other.add(event(number));
  log.add(other, 20);
  EXPECT_EQ(numbers(log), (std::vector<std::int64_t>{20, 21, -1})) << "-1 is no micro-batch";
}

TEST(TraceLog, OfNoEventsCountsThemAll) {
  TraceLog log;
  log.add(event(1));
  log.count_dropped(5);
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(log.dropped(), 6u);
}

}  // namespace
}  // namespace penstock::actors
