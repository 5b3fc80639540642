#include "actors/actor_system.hpp"

#include <algorithm>
#include <caf/atom.hpp>
#include <caf/logger.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <thread>

namespace penstock::actors {
namespace {

std::size_t worker_threads(int asked) {
  if (asked > 0) return static_cast<std::size_t>(asked);
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

HostThreadGuard::~HostThreadGuard() {
  caf::logger::set_current_actor_system(nullptr);
}

ActorSystem::Config::Config(const SystemOptions& options) : deterministic(options.deterministic) {
  // "sharing" hands a message from a foreign thread over about ten times faster than the default
  // "stealing"; a bounded throughput keeps one busy actor from starving the others.
  set("scheduler.policy", deterministic ? caf::atom("testing") : caf::atom("sharing"));
  set("scheduler.max-threads", worker_threads(options.threads));
  set("scheduler.max-throughput", std::size_t{20});
  set("logger.verbosity", caf::atom("quiet"));
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
