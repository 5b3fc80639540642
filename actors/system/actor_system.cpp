#include "actors/system/actor_system.hpp"

#include <algorithm>
#include <atomic>
#include <caf/actor_registry.hpp>
#include <caf/atom.hpp>
#include <caf/logger.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "penstock/error.hpp"

namespace penstock::actors {
namespace {

caf::atom_value policy(const SystemOptions& options) {
  if (options.deterministic) return caf::atom("testing");
  return options.policy == WorkerPolicy::stealing ? caf::atom("stealing") : caf::atom("sharing");
}

/// Beside the workers: CAF's clock and helpers.
constexpr std::size_t other_threads = 4;

}  // namespace

int worker_threads(const SystemOptions& options) {
  if (options.threads > 0) return options.threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

HostThreadGuard::~HostThreadGuard() {
  caf::logger::set_current_actor_system(nullptr);
}

ActorSystem::Config::Config(const SystemOptions& options)
    : deterministic(options.deterministic),
      devices(options.devices_on_threads ? RunsOn::own_thread : RunsOn::workers) {
  // "sharing" hands a message from a foreign thread over about ten times faster than the default
  // "stealing"; a bounded throughput keeps one busy actor from starving the others.
  set("scheduler.policy", actors::policy(options));
  const auto workers = static_cast<std::size_t>(worker_threads(options));
  set("scheduler.max-threads", workers);
  set("scheduler.max-throughput", static_cast<std::size_t>(options.max_throughput));
  set("logger.verbosity", caf::atom("quiet"));
  if (!deterministic) expect_threads(workers + other_threads);
}

// CAF cannot be stopped halfway through starting its threads, nor through spawning an actor on one.
// This many are started, and ended, to see whether the machine has them.
void ActorSystem::expect_threads(std::size_t count) {
  std::atomic<bool> end{false};
  std::vector<std::thread> threads;
  threads.reserve(count);
  const auto end_all = [&] {
    end = true;
    end.notify_all();
    for (std::thread& thread : threads) thread.join();
  };
  try {
    while (threads.size() < count) threads.emplace_back([&] { end.wait(false); });
  } catch (const std::system_error&) {
    end_all();
    throw Error(Errc::out_of_memory,
                "cannot start " +
                    (count == 1 ? "another thread" : std::to_string(count) + " more threads") +
                    ": the system allows " + std::to_string(threads.size()));
  }
  end_all();
}

void ActorSystem::give_up_unstarted(const std::system_error& error) {
  system_.registry().dec_running();
  system_.dec_detached_threads();
  throw Error(Errc::out_of_memory, std::string("cannot start another thread: ") + error.what());
}

ActorSystem::ActorSystem(const SystemOptions& options) : config_(options), system_(config_) {
  const HostThreadGuard constructing_counts_too;
}

ActorSystem::~ActorSystem() {
  run_pending();
}

void ActorSystem::run_pending() {
  if (!deterministic()) return;
  const HostThreadGuard guard;
  auto& scheduler = dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler());
  while (scheduler.try_run_once()) continue;
}

}  // namespace penstock::actors
