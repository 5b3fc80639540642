// CAF asks a Scheduler to let actors run. This one is the engine's own, as CAF's starts threads
// that cannot be had without ending the process or leaving some behind, in whatever environment the
// host's thread has, and allocates when an actor gets mail, where a failure loses the actor. It has
// no clock: in a system with threads, nobody may ask for a timeout or a delayed message.
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

  /// The workers that all actors share.
  Workers& shared() noexcept { return shared_; }
  /// A thread for one actor, for which it has room, and which closes it when it ends. Any thread.
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
  // Are the threads of actors that have threads of their own.
  std::list<std::shared_ptr<Workers>> single_threads_;
};

}  // namespace penstock::actors
