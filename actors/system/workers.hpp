// Workers are threads that handle the mail of the actors in one queue. An actor system has one
// Workers object with several threads for all actors that share them, and one with a single thread
// for each actor that has its own. To CAF, all threads of a Workers object are one execution unit.
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

  /// Starts `count` threads that bear `name`, or none, and waits until each is able to run actors.
  /// @throws Error out_of_memory if the system does not allow that many, or has no memory for what
  /// CAF keeps for each thread.
  void start(const std::string& name, int count);

  JobQueue& jobs() noexcept { return jobs_; }
  std::size_t max_throughput() const noexcept { return max_throughput_; }
  /// Takes an actor that has mail. Any thread may call this.
  void exec_later(caf::resumable* job) noexcept override { jobs_.push(job); }

  /// Tells the threads to end once no actor has mail, and does not wait for the threads. Any thread
  /// may call this function.
  void close() noexcept { jobs_.close(); }
  /// Returns whether all threads have come to their end.
  bool ended() const noexcept { return running_.load() == 0; }
  /// Closes the queue and waits for the threads. None of these threads may call it.
  void end() noexcept;

 private:
  void work() noexcept;
  void wait_until_entered() noexcept;
  /// Ends the threads that have been started. @throws Error
  [[noreturn]] void refuse(int count, const std::string& reason);

  JobQueue jobs_;
  std::size_t max_throughput_;
  std::atomic<int> running_{0};
  std::atomic<int> entering_{0};      // Counts the threads that cannot run actors yet.
  std::atomic<bool> refused_{false};  // Says whether a thread had no memory to enter CAF.
  std::vector<EngineThread> threads_;
};

}  // namespace penstock::actors
