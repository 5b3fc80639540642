#include "tests/support/deterministic_run.hpp"

#include <stdexcept>
#include <utility>

namespace penstock::testing {

DeterministicRun::DeterministicRun(actors::ActorSystem& system, std::uint64_t seed)
    : scheduler_(dynamic_cast<caf::scheduler::test_coordinator&>(system.caf().scheduler())),
      random_(seed) {}

bool DeterministicRun::step() {
  auto& jobs = scheduler_.jobs;
  if (jobs.empty()) return false;
  std::swap(jobs.front(), jobs[random_() % jobs.size()]);
  scheduler_.run_once();
  return true;
}

std::size_t DeterministicRun::run(std::size_t limit) {
  std::size_t steps = 0;
  while (step())
    if (++steps == limit) throw std::runtime_error("deterministic run: no end in sight");
  return steps;
}

bool DeterministicRun::run_until(const std::function<bool()>& done, std::size_t limit) {
  for (std::size_t steps = 0; !done(); ++steps) {
    if (steps == limit) throw std::runtime_error("deterministic run: no end in sight");
    if (!step()) return false;
  }
  return true;
}

void DeterministicRun::advance(std::chrono::nanoseconds time) {
  scheduler_.advance_time(std::chrono::duration_cast<caf::timespan>(time));
}

}  // namespace penstock::testing
