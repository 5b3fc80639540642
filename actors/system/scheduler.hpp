// The Scheduler of an actor system lets actors run. The engine has its own Scheduler, for three
// reasons. CAF's scheduler ends the process or leaves threads behind if a thread cannot be started;
// its threads inherit whatever environment the host's thread has; and it allocates memory when an
// actor gets mail, so that an actor is lost if there is no memory. The engine's Scheduler has no
// timers: in a system with threads, nobody may ask for a timeout or a delayed message.
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

  /// Starts the workers that actors share. This function is called once, after the system has been
  /// constructed.
  /// @throws Error out_of_memory if `count` threads cannot be started, or if there is no memory for
  /// what CAF keeps for each of them.
  void start_workers(int count) { shared_.start("penstock", count); }

  /// Returns the workers that actors share.
  Workers& shared() noexcept { return shared_; }
  /// Starts and returns a thread for one actor, with room for the actor in the thread's queue. The
  /// actor closes the thread when it ends. Any thread may call this function.
  /// @throws Error out_of_memory if another thread cannot be started, or if there is no memory for
  /// what CAF keeps for it.
  std::shared_ptr<Workers> add_thread(const std::string& name);

  void enqueue(caf::resumable* job) noexcept override { shared_.exec_later(job); }
  caf::actor_clock& clock() noexcept override;

 protected:
  /// Prepares the scheduler. CAF calls this function before it spawns any actor of the system.
  void init(caf::actor_system_config& config) override;
  void start() noexcept override {}
  void stop() noexcept override;

 private:
  /// Joins and removes the threads in `single_threads_` that have ended.
  void join_ended() noexcept;

  Workers shared_;
  std::mutex mutex_;
  // These are the threads of actors that have a thread of their own.
  std::list<std::shared_ptr<Workers>> single_threads_;
};

}  // namespace penstock::actors
