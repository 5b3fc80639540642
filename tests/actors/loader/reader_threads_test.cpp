#include "actors/loader/reader_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/latch.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::actors {
namespace {

using std::chrono::hours;
using testing::Latch;

class ReadingJob : public ReaderJob {
 public:
  ReadingJob(std::function<void()> work, std::atomic<int>& living)
      : work_(std::move(work)), living_(living) {
    ++living_;
  }
  ~ReadingJob() override { --living_; }
  void run() noexcept override { work_(); }

 private:
  std::function<void()> work_;
  std::atomic<int>& living_;
};

class EndingReader : public Reader {
 public:
  explicit EndingReader(std::function<void()> ending) : ending_(std::move(ending)) {}
  void end() noexcept override { ending_(); }

 private:
  std::function<void()> ending_;
};

std::shared_ptr<Reader> reader(std::function<void()> ending = [] {}) {
  return std::make_shared<EndingReader>(std::move(ending));
}

TEST(ReaderThreads, DoEachReadersJobsInTheirOrder) {
  std::atomic<int> living{0};
  std::mutex mutex;
  std::vector<int> done[2];
  Latch ends[2];
  ReaderThreads threads({reader(), reader()});
  for (int number = 0; number < 100; ++number)
    for (int subject = 0; subject < 2; ++subject)
      threads.post(subject, std::make_unique<ReadingJob>(
                                [&, subject, number] {
                                  const std::lock_guard lock(mutex);
                                  done[subject].push_back(number);
                                  if (number == 99) ends[subject].open();
                                },
                                living));
  for (int subject = 0; subject < 2; ++subject) {
    EXPECT_TRUE(ends[subject].wait());
    ASSERT_EQ(done[subject].size(), 100u);
    for (int number = 0; number < 100; ++number)
      EXPECT_EQ(done[subject][static_cast<std::size_t>(number)], number);
  }
  threads.close(hours(1));
  EXPECT_FALSE(threads.left_behind(0) || threads.left_behind(1));
  EXPECT_EQ(living, 0);
}

TEST(ReaderThreads, BeginNothingOnceTheyAreClosedAndEndTheirReaders) {
  std::atomic<int> living{0}, ended{0};
  std::atomic<bool> begun{false};
  {
    Latch busy, free;
    ReaderThreads threads({reader([&] { ++ended; }), reader([&] { ++ended; })});
    threads.post(0, std::make_unique<ReadingJob>(
                        [&] {
                          busy.open();
                          free.wait();
                        },
                        living));
    threads.post(0, std::make_unique<ReadingJob>([&] { begun = true; }, living));
    EXPECT_TRUE(busy.wait());
    std::thread closing([&] { threads.close(hours(1)); });
    // The second reader has no job, so that its end shows that the pool is closing.
    while (ended == 0) std::this_thread::yield();
    free.open();
    closing.join();
    EXPECT_EQ(ended, 2);
    threads.post(1, std::make_unique<ReadingJob>([&] { begun = true; }, living));
  }
  EXPECT_FALSE(begun);
  EXPECT_EQ(living, 0);
}

TEST(ReaderThreads, AreLeftBehindWithAllThatTheyUseUntilTheirJobReturns) {
  const std::size_t before = testing::thread_count();
  std::atomic<int> living{0};
  Latch busy, free, ended;
  {
    ReaderThreads threads({reader([&] { ended.open(); })});
    threads.post(0, std::make_unique<ReadingJob>(
                        [&] {
                          busy.open();
                          free.wait();
                        },
                        living));
    threads.post(0, std::make_unique<ReadingJob>([] {}, living));
    EXPECT_TRUE(busy.wait());
    threads.close(std::chrono::nanoseconds(0));
    EXPECT_TRUE(threads.left_behind(0));
  }
  EXPECT_EQ(living, 2);
  free.open();
  EXPECT_TRUE(ended.wait());
  EXPECT_TRUE(testing::threads_fall_to(before));
  EXPECT_EQ(living, 0);
}

}  // namespace
}  // namespace penstock::actors
