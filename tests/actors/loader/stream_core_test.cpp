// 2.5: these tests check the rules of the loader of streams, without actors and threads.
#include "actors/loader/stream_core.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

namespace penstock::actors {
namespace {

StreamSource numbers() {
  return {.fields = {{DType::i64, {}}}};
}

StreamSettings pairs(int workers, bool rebatched, bool drop_last = false) {
  return {.batch_rows = 2,
          .drop_last = drop_last,
          .rebatched = rebatched,
          .buffered = 2,
          .workers = workers};
}

/// Fills the first `rows` rows of `task` with the numbers 10 * worker, 10 * worker + 1 and so on.
FillResult filled(const FillTask& task, std::int64_t rows) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t value = 10 * task.worker + row;
    std::memcpy((*task.buffer)[0].get() + static_cast<std::size_t>(row) * sizeof value, &value,
                sizeof value);
  }
  return {task.epoch, task.chunk, rows, {}};
}

std::vector<FillTask> all_tasks(StreamCore& core) {
  std::vector<FillTask> tasks;
  while (core.has_task()) tasks.push_back(core.take_task());
  return tasks;
}

std::vector<std::int64_t> values_of(const LoadedBatch& batch) {
  const auto values = batch.tensors.at(0).as<std::int64_t>();
  return {values.begin(), values.end()};
}

using Numbers = std::vector<std::int64_t>;

TEST(StreamCore, HasNoTaskBeforeAnEpochBegins) {
  StreamCore core(numbers(), pairs(2, false));
  EXPECT_FALSE(core.has_task());
  core.start_epoch(0);
  EXPECT_TRUE(core.has_task());
}

TEST(StreamCore, WorkersTakeTurnsUpToTheLimitOfBatchesAhead) {
  StreamCore core(numbers(), pairs(3, false));
  core.start_epoch(0);
  const auto tasks = all_tasks(core);
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tasks[0].worker, 0);
  EXPECT_EQ(tasks[1].worker, 1);
  EXPECT_TRUE(core.reads());
}

TEST(StreamCore, GivesBatchesInTheOrderOfTurnsWhateverEndsFirst) {
  StreamCore core(numbers(), pairs(2, false));
  core.start_epoch(0);
  const auto tasks = all_tasks(core);
  ASSERT_EQ(tasks.size(), 2u);
  core.ask(0);
  core.finish(filled(tasks[1], 2));
  EXPECT_FALSE(core.asked_batch());
  core.finish(filled(tasks[0], 2));
  const auto batch = core.asked_batch();
  ASSERT_TRUE(batch);
  EXPECT_EQ(values_of(*batch), (Numbers{0, 1}));
}

TEST(StreamCore, JoinsTheRowsOfAllWorkersInABatchThatIsRebatched) {
  StreamCore core(numbers(), pairs(2, true));
  core.start_epoch(0);
  auto tasks = all_tasks(core);
  ASSERT_GE(tasks.size(), 2u);
  core.ask(0);
  core.finish(filled(tasks[1], 1));
  core.finish(filled(tasks[0], 1));
  const auto batch = core.asked_batch();
  ASSERT_TRUE(batch);
  EXPECT_EQ(values_of(*batch), (Numbers{0, 10}));
}

TEST(StreamCore, CountsWhatItDropsWhenAllStreamsHaveEnded) {
  StreamCore core(numbers(), pairs(1, false, true));
  core.start_epoch(0);
  auto tasks = all_tasks(core);
  ASSERT_EQ(tasks.size(), 2u);
  core.ask(0);
  core.finish(filled(tasks[0], 1));
  core.finish(filled(tasks[1], 0));
  const auto batch = core.asked_batch();
  ASSERT_TRUE(batch);
  EXPECT_TRUE(batch->ended);
  EXPECT_EQ(batch->dropped, 1);
  EXPECT_FALSE(core.has_task());
}

TEST(StreamCore, TakesNoNoticeOfAResultOfAnEarlierEpoch) {
  StreamCore core(numbers(), pairs(1, false));
  core.start_epoch(0);
  const FillTask old = all_tasks(core).at(0);
  core.start_epoch(1);
  ASSERT_FALSE(all_tasks(core).empty());
  core.ask(0);
  core.finish(filled(old, 2));
  EXPECT_FALSE(core.asked_batch());
}

}  // namespace
}  // namespace penstock::actors
