#include "actors/loader/loader_core.hpp"

#include <gtest/gtest.h>

#include "graph/values/memory.hpp"
#include "tests/support/allocation_counter.hpp"

namespace penstock::actors {
namespace {

/// Returns a source of ten samples with one number each.
LoaderSource ten_numbers() {
  return {.samples = 10, .fields = {{DType::f32, {}}}};
}

LoaderSettings three_batches() {
  return {.batch_rows = 4, .batches = 3, .buffered = 2, .workers = 2};
}

std::vector<ReadTask> all_tasks(LoaderCore& core) {
  std::vector<ReadTask> tasks;
  while (core.has_task()) tasks.push_back(core.take_task());
  return tasks;
}

/// Finishes `task` as a worker does, which drops the buffer before it sends its answer.
void finish(LoaderCore& core, ReadTask& task, std::optional<ReadFailure> failure = {}) {
  task.buffer.reset();
  core.finish({task.epoch, task.batch, std::move(failure)});
}

void finish_all(LoaderCore& core, std::vector<ReadTask> tasks) {
  for (ReadTask& task : tasks) finish(core, task);
}

/// Asks for batch number `batch`, finishes all tasks, and returns the batch, or no tensors if there
/// is no batch.
std::vector<Tensor> take(LoaderCore& core, std::int64_t batch) {
  core.ask(batch);
  finish_all(core, all_tasks(core));
  auto loaded = core.asked_batch();
  return loaded ? std::move(loaded->tensors) : std::vector<Tensor>();
}

TEST(LoaderCore, HandsOutNothingBeforeAnEpochBegins) {
  LoaderCore core(ten_numbers(), three_batches());
  EXPECT_FALSE(core.has_task());
  EXPECT_FALSE(core.asked_batch());
}

TEST(LoaderCore, SharesEachBatchAmongTheWorkersInOrder) {
  LoaderCore core(ten_numbers(), three_batches());
  core.start_epoch(7);
  const auto tasks = all_tasks(core);
  ASSERT_EQ(tasks.size(), 4u);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(tasks[i].epoch, 7u);
    EXPECT_EQ(tasks[i].batch, static_cast<std::int64_t>(i / 2));
    EXPECT_EQ(tasks[i].first, tasks[i].batch * 4);
    EXPECT_EQ(tasks[i].rows, (i % 2 ? RowRange{2, 4} : RowRange{0, 2}));
  }
}

// E2 of docs/reference.md: the loader reads as many batches ahead as its settings say.
TEST(LoaderCore, IsNeverFurtherAheadThanItsSettingsSay) {
  LoaderCore core(ten_numbers(), {.batch_rows = 1, .batches = 10, .buffered = 3});
  core.start_epoch(0);
  finish_all(core, all_tasks(core));
  EXPECT_EQ(core.batches_ahead(), 3);
  for (std::int64_t batch = 0; batch < 7; ++batch) {
    EXPECT_EQ(take(core, batch).size(), 1u);
    finish_all(core, all_tasks(core));
    EXPECT_EQ(core.batches_ahead(), 3);
  }
}

TEST(LoaderCore, AssemblesOnlyWhatIsAskedForUnlessAhead) {
  LoaderCore core(ten_numbers(), {.batch_rows = 4, .batches = 3, .ahead = false});
  core.start_epoch(0);
  EXPECT_TRUE(all_tasks(core).empty());
  core.ask(0);
  auto tasks = all_tasks(core);
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].batch, 0);
  finish_all(core, std::move(tasks));
  EXPECT_TRUE(core.asked_batch());
  EXPECT_TRUE(all_tasks(core).empty());
}

TEST(LoaderCore, GivesABatchOnlyWhenAllItsPartsAreDoneAndThenAgain) {
  LoaderCore core(ten_numbers(), three_batches());
  core.start_epoch(0);
  core.ask(0);
  auto tasks = all_tasks(core);
  finish(core, tasks[3]);
  finish(core, tasks[2]);
  finish(core, tasks[1]);
  EXPECT_FALSE(core.asked_batch());
  finish(core, tasks[0]);
  const auto batch = core.asked_batch();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->tensors.at(0).shape(), Shape{4});
  core.ask(0);
  EXPECT_EQ(core.asked_batch()->tensors.at(0).raw(), batch->tensors[0].raw());
}

TEST(LoaderCore, ALastBatchMayBeShort) {
  LoaderCore core(ten_numbers(), three_batches());
  core.start_epoch(0);
  take(core, 0);
  take(core, 1);
  EXPECT_EQ(take(core, 2).at(0).shape(), Shape{2});
}

TEST(LoaderCore, ReportsTheFirstUnreadableRowWhicheverWorkerIsQuicker) {
  for (const bool first_is_quicker : {true, false}) {
    LoaderCore core(ten_numbers(), three_batches());
    core.start_epoch(0);
    core.ask(0);
    auto tasks = all_tasks(core);
    finish(core, tasks[first_is_quicker ? 0 : 1],
           ReadFailure{first_is_quicker ? 1 : 2, {first_is_quicker ? "row 1" : "row 2"}});
    EXPECT_FALSE(core.asked_batch());
    finish(core, tasks[first_is_quicker ? 1 : 0],
           ReadFailure{first_is_quicker ? 2 : 1, {first_is_quicker ? "row 2" : "row 1"}});
    EXPECT_EQ(core.asked_batch()->failure->text, "row 1");
    EXPECT_EQ(core.asked_batch()->failure->text, "row 1");
  }
}

TEST(LoaderCore, OpensNoBatchAfterAFailureUntilTheNextEpoch) {
  LoaderCore core(ten_numbers(), {.batch_rows = 1, .batches = 10, .buffered = 2});
  core.start_epoch(0);
  auto tasks = all_tasks(core);
  finish(core, tasks[0]);
  finish(core, tasks[1], ReadFailure{0, {"broken"}});
  EXPECT_EQ(take(core, 0).size(), 1u);
  EXPECT_TRUE(all_tasks(core).empty());
  core.ask(1);
  EXPECT_EQ(core.asked_batch()->failure->text, "broken");
  core.start_epoch(1);
  EXPECT_EQ(take(core, 0).size(), 1u);
}

TEST(LoaderCore, ForgetsResultsOfAnAbandonedEpoch) {
  LoaderCore core(ten_numbers(), three_batches());
  core.start_epoch(0);
  auto old = all_tasks(core);
  core.start_epoch(1);
  core.ask(0);
  auto tasks = all_tasks(core);
  finish(core, old[0], ReadFailure{0, {"old"}});
  finish_all(core, {tasks.begin(), tasks.end()});
  finish_all(core, {old.begin() + 1, old.end()});
  tasks.clear();
  old.clear();
  finish_all(core, all_tasks(core));
  const auto batch = core.asked_batch();
  ASSERT_TRUE(batch);
  EXPECT_FALSE(batch->failure);
}

TEST(LoaderCore, WaitsForTheMemoryOfAnAbandonedEpochRatherThanAllocate) {
  LoaderCore core(ten_numbers(), {.batch_rows = 4, .batches = 3, .buffered = 1});
  core.start_epoch(0);
  const auto before = memory_counters().blocks_allocated;
  std::vector<ReadTask> abandoned;
  for (std::uint64_t epoch = 1; epoch < 5; ++epoch) {
    for (ReadTask& task : all_tasks(core)) abandoned.push_back(std::move(task));
    core.start_epoch(epoch);
    core.ask(0);
  }
  EXPECT_EQ(memory_counters().blocks_allocated - before, 2u);
  EXPECT_FALSE(core.has_task());
  finish_all(core, std::move(abandoned));
  EXPECT_EQ(take(core, 0).size(), 1u);
  EXPECT_EQ(memory_counters().blocks_allocated - before, 2u);
}

struct Consumer {
  bool ahead;
  int buffered;
  std::size_t holds;  // The consumer keeps this many batches while it takes another one.
  std::uint64_t buffers;
};

TEST(LoaderCore, AllocatesWhatItsConsumerHoldsAndNoMore) {
  for (const Consumer& consumer :
       {Consumer{true, 1, 0, 2}, Consumer{true, 3, 0, 4}, Consumer{true, 3, 1, 4},
        Consumer{true, 1, 1, 2}, Consumer{true, 1, 3, 4}, Consumer{false, 3, 0, 1},
        Consumer{false, 3, 1, 2}, Consumer{false, 3, 2, 3}}) {
    LoaderCore core(
        ten_numbers(),
        {.batch_rows = 1, .batches = 10, .ahead = consumer.ahead, .buffered = consumer.buffered});
    const auto before = memory_counters().blocks_allocated;
    for (std::uint64_t epoch = 0; epoch < 5; ++epoch) {
      std::deque<std::vector<Tensor>> held;
      core.start_epoch(epoch);
      for (std::int64_t batch = 0; batch < 10; ++batch) {
        if (held.size() > consumer.holds) held.pop_front();
        held.push_back(take(core, batch));
        ASSERT_EQ(held.back().size(), 1u);
        finish_all(core, all_tasks(core));
      }
    }
    EXPECT_EQ(memory_counters().blocks_allocated - before, consumer.buffers)
        << (consumer.ahead ? "ahead, buffered " : "not ahead, buffered ") << consumer.buffered
        << ", holds " << consumer.holds;
  }
}

/// Begins an epoch while allocation number `number` fails. Even if the epoch then has no plan, the
/// first request afterwards has to get a batch. Returns whether any allocation failed.
bool recovers_in_the_epoch(const std::shared_ptr<const EpochPlan>& plan, std::int64_t number) {
  LoaderSettings settings = three_batches();
  settings.shuffle = true;
  LoaderCore core(ten_numbers(), settings), undisturbed(ten_numbers(), settings);
  undisturbed.start_epoch(5, plan);
  const ReadTask expected = all_tasks(undisturbed).front();
  bool reached = false;
  {
    const testing::AllocationFailures failures(number, 1, testing::FailsOn::this_thread);
    core.start_epoch(5, plan);
    reached = failures.reached();
  }
  core.ask(0);
  const std::vector<ReadTask> tasks = all_tasks(core);
  EXPECT_FALSE(tasks.empty());
  for (const ReadTask& task : tasks) EXPECT_EQ(task.plan->order, expected.plan->order);
  finish_all(core, tasks);
  const auto batch = core.asked_batch();
  EXPECT_TRUE(batch && !batch->failure);
  return reached;
}

TEST(LoaderCore, MakesAPlanThatMemoryWasShortForWhenItIsAskedAgain) {
  EpochPlan larger;  // The batches of this plan need larger buffers than those of the settings.
  larger.order = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  larger.ends = {8, 10};
  for (const auto& plan :
       {std::shared_ptr<const EpochPlan>(), std::make_shared<const EpochPlan>(std::move(larger))}) {
    std::int64_t number = 1;
    while (recovers_in_the_epoch(plan, number)) ++number;
    EXPECT_GT(number, 1);
  }
}

TEST(LoaderCore, SaysThatThereIsNoMemoryForAPlanAsLongAsThereIsNone) {
  LoaderSettings settings = three_batches();
  settings.shuffle = true;
  LoaderCore core(ten_numbers(), settings);
  for (std::int64_t number : {1, 2}) {
    const testing::AllocationFailures failures(1, 1000, testing::FailsOn::this_thread);
    if (number == 1) core.start_epoch(0);
    core.ask(0);
    const auto batch = core.asked_batch();
    ASSERT_TRUE(batch && batch->failure);
    EXPECT_EQ(batch->failure->code, Errc::out_of_memory);
  }
  EXPECT_EQ(take(core, 0).size(), 1u);
}

TEST(LoaderCore, NeverWritesToABatchThatIsHeld) {
  LoaderCore core(ten_numbers(), {.batch_rows = 1, .batches = 10, .buffered = 2});
  core.start_epoch(0);
  const auto held = take(core, 0);
  for (std::int64_t batch = 1; batch < 10; ++batch) {
    for (const ReadTask& task : all_tasks(core)) {
      EXPECT_NE(task.buffer->front().get(), held[0].raw());
      ReadTask mine = task;
      finish(core, mine);
    }
    take(core, batch);
  }
}

}  // namespace
}  // namespace penstock::actors
