// Workers are threads that handle the mail of the actors in one queue. An actor system has one
// Workers object whose threads many actors share, and one Workers object with a single thread for
// each actor that has a thread of its own. To CAF, a Workers object is the execution unit of all
// its threads. It has another one, its inner unit, through which handlers on these threads add
// actors to the queue.
#pragma once

#include <atomic>
#include <caf/execution_unit.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "actors/system/job_queue.hpp"
#include "actors/threads/engine_thread.hpp"

namespace penstock::actors {

class Workers final : public caf::execution_unit {
 public:
  /// Makes workers without threads; start() starts them. An actor handles at most `max_throughput`
  /// messages before other actors have their turn.
  Workers(caf::actor_system& system, std::size_t max_throughput)
      : execution_unit(&system), max_throughput_(max_throughput) {}
  ~Workers() override { end(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Starts `count` threads with the name `name`, and waits until each of them is able to run
  /// actors. If the function throws, no thread is left.
  /// @throws Error out_of_memory if the operating system does not allow so many threads, or if
  /// there is no memory for what CAF keeps for each thread; std::bad_alloc.
  void start(const std::string& name, int count);

  JobQueue& jobs() noexcept { return jobs_; }
  std::size_t max_throughput() const noexcept { return max_throughput_; }
  /// Adds `job`, an actor that has mail, to the queue. Any thread may call this function.
  void exec_later(caf::resumable* job) noexcept override { jobs_.push(job); }
  /// Returns the unit by which a handler that one of these threads runs adds actors to the queue,
  /// see JobQueue::push_from_worker().
  caf::execution_unit& inner_unit() noexcept { return inner_unit_; }

  /// Tells the threads to end once no actor has mail. Does not wait for the threads. Any thread may
  /// call this function.
  void close() noexcept { jobs_.close(); }
  /// Returns whether all threads have ended, or are about to.
  bool ended() const noexcept { return running_.load() == 0; }
  /// Closes the queue and waits until all threads have ended. None of these threads may call this
  /// function.
  void end() noexcept;

 private:
  class InnerUnit final : public caf::execution_unit {
   public:
    InnerUnit(caf::actor_system& system, JobQueue& jobs) : execution_unit(&system), jobs_(jobs) {}
    void exec_later(caf::resumable* job) noexcept override { jobs_.push_from_worker(job); }

   private:
    JobQueue& jobs_;
  };

  void work() noexcept;
  void wait_until_entered() noexcept;
  /// Ends the threads that have been started. @throws Error
  [[noreturn]] void refuse(int count, const std::string& reason);

  JobQueue jobs_;
  InnerUnit inner_unit_{system(), jobs_};
  std::size_t max_throughput_;
  std::atomic<int> running_{0};
  std::atomic<int> entering_{0};      // This many threads cannot run actors yet.
  std::atomic<bool> refused_{false};  // This is true if a thread had no memory for using CAF.
  std::vector<EngineThread> threads_;
};

/// Lets another thread run the actors that have mail, before a handler that `unit` runs does
/// something that takes longer than waking a thread, some ten microseconds. Otherwise actors to
/// which the handler, or an earlier one, sent mail might wait until the handler is done.
void let_others_work(caf::execution_unit* unit) noexcept;
/// Does the same before a handler that `unit` runs copies or clears `bytes` of memory, if that
/// takes longer than waking a thread, and returns whether it does.
bool let_others_work_for(caf::execution_unit* unit, std::size_t bytes) noexcept;

}  // namespace penstock::actors
