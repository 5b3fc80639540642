#include "actors/system/actor_system.hpp"

#include <caf/atom.hpp>
#include <caf/logger.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/system_messages.hpp>

#include "actors/system/errors.hpp"
#include "actors/system/scheduler.hpp"
#include "actors/threads/allowed_cpus.hpp"
#include "penstock/error.hpp"

namespace penstock::actors {

int worker_threads(const SystemOptions& options) {
  return options.threads > 0 ? options.threads : AllowedCpus::now().count();
}

HostThreadGuard::HostThreadGuard() {
  enter_caf();
}

HostThreadGuard::~HostThreadGuard() {
  caf::logger::set_current_actor_system(nullptr);
}

ActorSystem::Config::Config(const SystemOptions& options)
    : deterministic(options.deterministic),
      devices(options.devices_on_threads ? RunsOn::own_thread : RunsOn::workers) {
  set("logger.verbosity", caf::atom("quiet"));
  if (deterministic)
    set("scheduler.policy", caf::atom("testing"));
  else
    // A bounded throughput keeps a busy actor from starving other actors.
    module_factories.emplace_back([most = static_cast<std::size_t>(options.max_throughput)](
                                      caf::actor_system& system) -> caf::actor_system::module* {
      return new Scheduler(system, most);
    });
}

// The threads are started last: if they cannot be started, `system_` is complete, and its
// destructor ends it as usual.
ActorSystem::ActorSystem(const SystemOptions& options) : config_(options), system_(config_) {
  const HostThreadGuard constructing_counts_too;
  if (Scheduler* const threads = scheduler()) threads->start_workers(worker_threads(options));
}

ActorSystem::~ActorSystem() {
  // The destructor of CAF's system uses a variable that CAF keeps for each thread. If there is no
  // memory to prepare this thread, the system ends nevertheless: a thread that has used CAF before
  // needs no such memory, and on any other thread, a destructor cannot refuse to run.
  prepare_to_end();
  run_pending();
  roll_.tell_all();
  run_pending();
}

Scheduler* ActorSystem::scheduler() noexcept {
  return dynamic_cast<Scheduler*>(&system_.scheduler());
}

ActorSystem::Place::Place(ActorSystem& system, RunsOn where, Watched watched)
    : terms{.roll = &system.roll_,
            .notice = EndNotice(watched),
            .exit = caf::make_mailbox_element(
                nullptr, caf::make_message_id(), {},
                caf::exit_msg{caf::actor_addr(), caf::exit_reason::user_shutdown}),
            .out_of_memory = to_caf(Errc::out_of_memory, "out of memory"),
            .still_out_of_memory = to_caf(Errc::out_of_memory, "out of memory"),
            .seat = system.deterministic() ? Seat() : Seat(system.scheduler()->shared().jobs()),
            .thread = nullptr} {
  if (system.deterministic()) return;
  if (where == RunsOn::own_thread)
    terms.thread = system.scheduler()->add_thread(watched.name.empty() ? "penstock" : watched.name);
  terms.workers = terms.thread ? terms.thread.get() : &system.scheduler()->shared();
}

ActorSystem::Place::~Place() {
  if (terms.thread) terms.thread->close();
}

void ActorSystem::run_pending() {
  if (!deterministic()) return;
  const HostThreadGuard guard;
  auto& scheduler = dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler());
  while (scheduler.try_run_once()) continue;
}

}  // namespace penstock::actors
