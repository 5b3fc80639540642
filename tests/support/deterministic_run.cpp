#include "tests/support/deterministic_run.hpp"

#include <algorithm>
#include <caf/actor_cast.hpp>
#include <caf/send.hpp>
#include <cstdlib>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace penstock::testing {

std::uint64_t orders() {
  const char* const wanted = std::getenv("PENSTOCK_TEST_ORDERS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : 2000;
}

DeterministicRun::DeterministicRun(actors::ActorSystem& system)
    : scheduler_(dynamic_cast<caf::scheduler::test_coordinator&>(system.caf().scheduler())) {}

DeterministicRun::DeterministicRun(actors::ActorSystem& system, std::uint64_t seed)
    : DeterministicRun(system) {
  random_.emplace(seed);
}

bool DeterministicRun::step() {
  auto& jobs = scheduler_.jobs;
  if (jobs.empty()) return false;
  if (random_) std::swap(jobs.front(), jobs[(*random_)() % jobs.size()]);
  const auto* job = jobs.front();
  scheduler_.run_once();
  // If the actor has more mail, the scheduler has put it first again. Here it is put last, so that
  // all other actors have their turns before it.
  if (!random_ && !jobs.empty() && jobs.front() == job)
    std::rotate(jobs.begin(), jobs.begin() + 1, jobs.end());
  return true;
}

void DeterministicRun::steps(std::size_t count) {
  for (; count > 0 && step(); --count) {
  }
}

bool DeterministicRun::end_one() {
  auto& jobs = scheduler_.jobs;
  if (jobs.empty()) return false;
  auto& actor = dynamic_cast<caf::abstract_actor&>(*jobs[(*random_)() % jobs.size()]);
  caf::anon_send_exit(caf::actor_cast<caf::actor>(&actor), caf::exit_reason::unknown);
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

// In libstdc++, a new deque has a whole empty node, with room for 64 pointers.
void DeterministicRun::make_room() {
  std::remove_reference_t<decltype(scheduler_.jobs)>().swap(scheduler_.jobs);
}

void DeterministicRun::advance(std::chrono::nanoseconds time) {
  scheduler_.advance_time(std::chrono::duration_cast<caf::timespan>(time));
}

}  // namespace penstock::testing
