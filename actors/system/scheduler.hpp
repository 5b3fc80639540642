// CAF asks a Scheduler to let actors run. This one is the engine's own, for three reasons. If a
// thread cannot be started, CAF's scheduler ends the process or leaves threads behind; its threads
// inherit whatever environment the host's thread has; and it allocates when an actor gets mail, so
// that a lack of memory loses the actor. This scheduler has no clock: in a system with threads,
// nobody may ask for a timeout or a delayed message.
#pragma once

#include <caf/actor_clock.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "actors/system/workers.hpp"

namespace penstock::actors {

class Scheduler final : public caf::scheduler::abstract_coordinator {
 public:
  Scheduler(caf::actor_system& system, std::size_t max_throughput);

  /// Starts the workers that all actors share. Called once, after the system has been constructed.
  /// @throws Error out_of_memory if the machine has not as many threads.
  void start_workers(int count) { shared_.start("penstock", count); }

  /// Returns the workers that all actors share.
  Workers& shared() noexcept { return shared_; }
  /// Returns a thread for one actor, with room for it in its queue. The actor closes the thread
  /// when it ends. Any thread may call this.
  /// @throws Error out_of_memory if there is no more thread.
  std::shared_ptr<Workers> add_thread(const std::string& name);

  void enqueue(caf::resumable* job) noexcept override { shared_.exec_later(job); }
  caf::actor_clock& clock() noexcept override;

 protected:
  /// CAF calls it before a system spawns an actor.
  void init(caf::actor_system_config& config) override;
  void start() noexcept override {}
  void stop() noexcept override;

 private:
  /// Waits for threads whose actors have ended.
  void join_ended() noexcept;

  Workers shared_;
  std::mutex mutex_;
  // Has the threads of actors that have threads of their own.
  std::list<std::shared_ptr<Workers>> single_threads_;
};

}  // namespace penstock::actors
