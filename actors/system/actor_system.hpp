// ActorSystem: CAF's actor system, configured for an engine that lives in somebody else's process:
// no files read, nothing printed. Owns the worker threads; destroy it after the last actor has been
// told to end, for the destructor waits for them (a deterministic one lets them end).
#pragma once

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/spawn_options.hpp>
#include <cstdint>
#include <system_error>
#include <utility>

#include "actors/system/system_options.hpp"

namespace penstock::actors {

/// Where an actor's handlers run.
enum class RunsOn : std::uint8_t {
  workers,     ///< on the system's worker threads; its handlers never block
  own_thread,  ///< on a thread of its own, where a handler may block or compute for long
};

/// For host threads: at its end, the thread has nothing to do with an actor system any more. CAF
/// leaves a reference to the system's logger behind in each thread that spawns an actor or uses a
/// scoped one, and a system's destructor waits until all of them are gone, except for its own
/// thread's: it would wait for ever for another host thread that is still there.
struct HostThreadGuard {
  HostThreadGuard() = default;
  HostThreadGuard(const HostThreadGuard&) = delete;
  HostThreadGuard& operator=(const HostThreadGuard&) = delete;
  ~HostThreadGuard();
};

/// Made, used and destroyed on any threads.
class ActorSystem {
 public:
  /// @throws Error out_of_memory if the machine has not as many threads.
  explicit ActorSystem(const SystemOptions& options = {});
  ~ActorSystem();
  ActorSystem(const ActorSystem&) = delete;
  ActorSystem& operator=(const ActorSystem&) = delete;

  bool deterministic() const noexcept { return config_.deterministic; }
  RunsOn devices() const noexcept { return config_.devices; }
  /// Host threads that use it for more than sending hold a HostThreadGuard meanwhile.
  caf::actor_system& caf() noexcept { return system_; }

  /// In a deterministic system: handles all mail, first come, first served, on the calling thread.
  /// Otherwise nothing: the workers do that.
  void run_pending();

  /// Starts the function-based actor `body`, which calls base_init() first. A deterministic system
  /// has no threads to give away: there every actor is scheduled.
  /// @throws Error out_of_memory if there is no thread for an actor that shall have its own.
  template <class Body, class... Args>
  auto spawn(RunsOn where, Body body, Args&&... args) {
    const HostThreadGuard guard;
    if (where == RunsOn::workers || deterministic())
      return system_.spawn(body, std::forward<Args>(args)...);
    expect_threads(1);
    try {
      return system_.spawn<caf::detached>(body, std::forward<Args>(args)...);
    } catch (const std::system_error& error) {
      give_up_unstarted(error);
    }
  }

 private:
  /// @throws Error out_of_memory if so many threads cannot be started now.
  static void expect_threads(std::size_t count);
  /// Its thread could not be started after all, and CAF would wait for its end for ever.
  [[noreturn]] void give_up_unstarted(const std::system_error& error);

  struct Config : caf::actor_system_config {
    explicit Config(const SystemOptions& options);
    bool deterministic;
    RunsOn devices;
  };

  Config config_;
  caf::actor_system system_;
};

}  // namespace penstock::actors
