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

  /// Starts the workers that all actors share. It is called once, after the system has been
  /// constructed.
  /// @throws Error out_of_memory if the machine cannot start `count` threads.
  void start_workers(int count) { shared_.start("penstock", count); }

  /// Returns the workers that all actors share.
  Workers& shared() noexcept { return shared_; }
  /// Starts and returns a thread for one actor, with room for the actor in the thread's queue. The
  /// actor closes the thread when it ends. Any thread may call this function.
  /// @throws Error out_of_memory if the machine cannot start another thread.
  std::shared_ptr<Workers> add_thread(const std::string& name);

  void enqueue(caf::resumable* job) noexcept override { shared_.exec_later(job); }
  caf::actor_clock& clock() noexcept override;

 protected:
  /// Is called by CAF before the system spawns any actor.
  void init(caf::actor_system_config& config) override;
  void start() noexcept override {}
  void stop() noexcept override;

 private:
  /// Joins and removes those of `single_threads_` that have ended.
  void join_ended() noexcept;

  Workers shared_;
  std::mutex mutex_;
  // Has the threads of actors that have threads of their own.
  std::list<std::shared_ptr<Workers>> single_threads_;
};

}  // namespace penstock::actors
