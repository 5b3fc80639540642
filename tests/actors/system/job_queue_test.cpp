#include "actors/system/job_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <caf/resumable.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/support/allocation_counter.hpp"

namespace penstock::actors {
namespace {

using namespace std::chrono_literals;

struct Job final : caf::resumable {
  resume_result resume(caf::execution_unit*, std::size_t) override { return done; }
  void intrusive_ptr_add_ref_impl() override {}
  void intrusive_ptr_release_impl() override {}
};

TEST(JobQueue, GivesJobsInTheirOrderHoweverItGrows) {
  JobQueue queue;
  std::array<Job, 100> jobs;
  std::size_t popped = 0;
  for (std::size_t seats = 1; seats <= jobs.size(); ++seats) {
    queue.add_seat();
    queue.push(&jobs[seats - 1]);
    // Every third time, the first job leaves the queue, so that the queue's ring begins at
    // different places.
    if (seats % 3 == 0) {
      caf::resumable* const first = queue.pop();
      EXPECT_EQ(first, &jobs[popped++]);
    }
  }
  while (popped < jobs.size()) EXPECT_EQ(queue.pop(), &jobs[popped++]);
}

TEST(JobQueue, ExchangesAJobForTheFirstOne) {
  JobQueue queue;
  std::array<Job, 2> jobs;
  for (std::size_t i = 0; i < jobs.size(); ++i) queue.add_seat();
  EXPECT_EQ(queue.exchange(&jobs[0]), &jobs[0]) << "there is no other";
  queue.push(&jobs[1]);
  EXPECT_EQ(queue.exchange(&jobs[0]), &jobs[1]);
  EXPECT_EQ(queue.pop(), &jobs[0]);
}

/// A Taker is a thread that waits for a job of a queue, takes it, and adds another one in its
/// place, so that a test which expects the job in the queue fails and does not wait for it.
class Taker {
 public:
  /// Starts the thread, and waits until it waits for a job.
  explicit Taker(JobQueue& queue) : queue_(queue) {
    queue_.add_seat();
    thread_ = std::thread([this] { take(); });
    while (queue_.waiting() == 0) std::this_thread::yield();
  }
  ~Taker() {
    queue_.close();
    thread_.join();
  }
  /// Returns the job that the thread has taken, or null if it still waits after a minute.
  caf::resumable* taken() const {
    for (int i = 0; i < 60'000 && !job_; ++i) std::this_thread::sleep_for(1ms);
    return job_;
  }

 private:
  void take() {
    caf::resumable* const job = queue_.pop();
    if (job) queue_.push(&substitute_);
    job_ = job;
  }

  JobQueue& queue_;
  Job substitute_;
  std::atomic<caf::resumable*> job_ = nullptr;
  std::thread thread_;
};

TEST(JobQueue, WakesNobodyForTheOnlyJobOfAWorker) {
  JobQueue queue;
  std::array<Job, 2> jobs;
  for (std::size_t i = 0; i < jobs.size(); ++i) queue.add_seat();
  const Taker other(queue);
  for (int round = 0; round < 100; ++round) {
    queue.push_from_worker(&jobs[0]);
    std::this_thread::yield();
    ASSERT_EQ(queue.pop(), &jobs[0]) << "another thread has taken it";
  }
  queue.push(&jobs[1]);
  EXPECT_EQ(other.taken(), &jobs[1]);
}

TEST(JobQueue, WakesAnotherThreadForTheSecondJobOfAWorker) {
  JobQueue queue;
  std::array<Job, 2> jobs;
  for (std::size_t i = 0; i < jobs.size(); ++i) queue.add_seat();
  const Taker other(queue);
  queue.push_from_worker(&jobs[0]);
  queue.push_from_worker(&jobs[1]);
  EXPECT_EQ(other.taken(), &jobs[0]);
  EXPECT_EQ(queue.pop(), &jobs[1]);
}

TEST(JobQueue, WakesAnotherThreadForAJobThatIsExchanged) {
  JobQueue queue;
  std::array<Job, 2> jobs;
  for (std::size_t i = 0; i < jobs.size(); ++i) queue.add_seat();
  const Taker other(queue);
  queue.push_from_worker(&jobs[0]);
  ASSERT_EQ(queue.exchange(&jobs[1]), &jobs[0]);
  EXPECT_EQ(other.taken(), &jobs[1]);
}

TEST(JobQueue, WakesAnotherThreadForTheOnlyJobOfAWorkerIfAsked) {
  JobQueue queue;
  Job job;
  queue.add_seat();
  const Taker other(queue);
  queue.push_from_worker(&job);
  queue.wake_another();
  EXPECT_EQ(other.taken(), &job);
}

TEST(JobQueue, GivesWhatItHasAndThenNothingOnceItIsClosed) {
  JobQueue queue;
  Job job;
  queue.add_seat();
  caf::resumable* popped = &job;
  std::thread waiting([&] { popped = queue.pop(); });
  queue.close();
  waiting.join();
  EXPECT_EQ(popped, nullptr);
  queue.push(&job);
  EXPECT_EQ(queue.pop(), &job);
  EXPECT_EQ(queue.pop(), nullptr);
}

TEST(JobQueue, AllocatesForSeatsOnly) {
  JobQueue queue;
  std::array<Job, 40> jobs;
  for (std::size_t i = 0; i < jobs.size(); ++i) queue.add_seat();
  const std::uint64_t before = testing::heap_allocations();
  for (int round = 0; round < 3; ++round) {
    for (Job& job : jobs) queue.push(&job);
    for (std::size_t i = 0; i < jobs.size(); ++i) queue.pop();
  }
  EXPECT_EQ(testing::heap_allocations(), before);
}

TEST(JobQueue, IsAsItWasIfThereIsNoMemoryForASeat) {
  JobQueue queue;
  std::array<Job, 40> jobs;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const testing::AllocationFailures failures(1);
    try {
      queue.add_seat();
    } catch (const std::bad_alloc&) {
      queue.add_seat();
    }
  }
  for (Job& job : jobs) queue.push(&job);
  for (Job& job : jobs) EXPECT_EQ(queue.pop(), &job);
}

}  // namespace
}  // namespace penstock::actors
