// An ActorSystem is CAF's actor system, configured for an engine that lives in the host's process:
// it reads no files, prints nothing, and has threads of the engine's own kind. It owns the worker
// threads. Its destructor tells all actors to end, and waits until they have ended.
#pragma once

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/detail/init_fun_factory.hpp>
#include <caf/infer_handle.hpp>
#include <caf/spawn_options.hpp>
#include <cstdint>
#include <utility>

#include "actors/system/engine_actor.hpp"
#include "actors/system/mortal.hpp"
#include "actors/system/system_options.hpp"
#include "actors/system/thread_entry.hpp"

namespace penstock::actors {

class Scheduler;

/// RunsOn says where an actor's handlers run.
enum class RunsOn : std::uint8_t {
  workers,     ///< The handlers run on the system's worker threads, and never block.
  own_thread,  ///< The handlers run on a thread of the actor's own. They may block or take long.
};

/// While a HostThreadGuard lives, the thread of the host that made it may use an actor system; its
/// destructor cuts the thread's tie to the system. CAF leaves a reference to the system's logger in
/// each thread that spawns an actor or uses a scoped actor. A system's destructor waits until all
/// threads except its own have dropped that reference. Without a guard, a thread of the host might
/// never drop it.
struct HostThreadGuard {
  /// Lets the calling thread use CAF. @throws std::bad_alloc
  HostThreadGuard();
  HostThreadGuard(const HostThreadGuard&) = delete;
  HostThreadGuard& operator=(const HostThreadGuard&) = delete;
  ~HostThreadGuard();
};

/// An ActorSystem is an actor system of the engine. Any thread may make, use and destroy it.
class ActorSystem {
 public:
  /// Starts the system. If an allocation fails, the constructor throws and nothing of the system is
  /// left. The exception is a deterministic system: it has CAF's own scheduler, which may end the
  /// process.
  /// @throws Error out_of_memory if the threads cannot be started, or if there is no memory for
  /// what CAF keeps for each of them; std::bad_alloc.
  explicit ActorSystem(const SystemOptions& options = {});
  ~ActorSystem();
  ActorSystem(const ActorSystem&) = delete;
  ActorSystem& operator=(const ActorSystem&) = delete;

  bool deterministic() const noexcept { return config_.deterministic; }
  RunsOn devices() const noexcept { return config_.devices; }
  /// Returns CAF's actor system. A thread of the host that does more with it than send messages has
  /// a HostThreadGuard meanwhile.
  caf::actor_system& caf() noexcept { return system_; }

  /// Handles all mail of a deterministic system, first come, first served, on the calling thread.
  /// In any other system, the function does nothing, because the workers handle the mail.
  void run_pending();

  /// Starts the function-based actor `body` with `args`. A deterministic system has no threads, and
  /// ignores `where`. If the actor has a thread of its own, the thread has the name in `watched`.
  /// The watch in `watched`, if there is one, learns of the actor's end.
  /// @throws Error out_of_memory if `where` asks for a thread and none can be started;
  /// std::bad_alloc. If the function throws, the actor has not been started.
  template <class Body, class... Args>
  auto spawn(RunsOn where, Watched watched, Body body, Args&&... args) {
    using Impl = caf::infer_impl_from_fun_t<Body>;
    const HostThreadGuard guard;
    caf::detail::init_fun_factory<Impl, Body> make_start;
    caf::actor_config config;
    config.init_fun = make_start(std::move(body), std::forward<Args>(args)...);
    Place place(*this, where, std::move(watched));
    config.host = place.terms.workers;
    return system_.spawn_impl<EngineActor<Impl>, caf::no_spawn_options>(config,
                                                                        std::move(place.terms));
  }
  template <class Body, class... Args>
  auto spawn(RunsOn where, Body body, Args&&... args) {
    return spawn(where, Watched{}, std::move(body), std::forward<Args>(args)...);
  }

  /// Lets the calling thread, which is going to destroy this system, use CAF and throw, with memory
  /// that was kept back for the purpose. The destructor calls this function. A thread that uses CAF
  /// on the way to the destructor calls this function earlier.
  void prepare_to_end() noexcept { static_cast<void>(entry_memory_.enter_caf_with_it()); }

 private:
  /// A Place says where an actor will run. If the actor could not be started, the destructor gives
  /// back the actor's thread.
  struct Place {
    Place(ActorSystem& system, RunsOn where, Watched watched);
    ~Place();
    ActorTerms terms;
  };

  /// Returns the engine's scheduler, or null in a deterministic system, which has CAF's own
  /// scheduler.
  Scheduler* scheduler() noexcept;

  struct Config : caf::actor_system_config {
    explicit Config(const SystemOptions& options);
    bool deterministic;
    RunsOn devices;
  };

  EntryMemory entry_memory_;  // This is for the thread that destroys this object.
  Config config_;
  Roll roll_;
  // If the constructor of `system_` throws, this guard cuts the thread's tie to that system.
  HostThreadGuard constructing_;
  caf::actor_system system_;
};

}  // namespace penstock::actors
