// A DeterministicRun executes the actors of a deterministic ActorSystem on the calling thread, one
// message at a time. The order is drawn from a seed, where the same seed gives the same order, or
// the actors take turns, as if each message took the same time.
#pragma once

#include <caf/scheduler/test_coordinator.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>

#include "actors/system/actor_system.hpp"

namespace penstock::testing {

/// Returns how many orders of messages a test draws for each kind of engine, if nothing else takes
/// its time: PENSTOCK_TEST_ORDERS in the environment or, failing that, 2000.
std::uint64_t orders();

class DeterministicRun {
 public:
  /// Runs the actors of `system` in an order that is drawn from `seed`. @throws std::bad_cast if
  /// `system` was not made with SystemOptions::deterministic.
  DeterministicRun(actors::ActorSystem& system, std::uint64_t seed);
  /// Runs the actors of `system` in turn. @throws std::bad_cast as the other constructor does.
  explicit DeterministicRun(actors::ActorSystem& system);

  /// Lets one actor that has mail handle one message. Returns false if no actor has mail.
  bool step();
  /// Calls step() `count` times, or until no actor has mail.
  void steps(std::size_t count);
  /// Tells one of the actors that have mail to end, as if it had crashed. Returns false if no actor
  /// has mail. The order has to be drawn from a seed.
  bool end_one();
  /// Calls step() until no actor has mail, and returns the number of steps.
  /// @throws std::runtime_error after `limit` steps, because the actors seem to keep each other
  /// busy forever.
  std::size_t run(std::size_t limit = 10'000'000);
  /// Calls step() until `done()` returns true. Returns false if no actor has mail before that.
  /// @throws std::runtime_error as run() does.
  bool run_until(const std::function<bool()>& done, std::size_t limit = 10'000'000);

  /// Makes room for the next 60 times that an actor gets mail, so that CAF's scheduler allocates
  /// nothing at these times. If such an allocation failed, which would not be the engine's fault,
  /// the actor would be lost. When this function is called, no actor may have mail.
  void make_room();

  /// Moves the virtual clock by `time`. Delayed messages and timeouts whose time has come become
  /// mail.
  void advance(std::chrono::nanoseconds time);

 private:
  caf::scheduler::test_coordinator& scheduler_;
  std::optional<std::mt19937_64> random_;  // If this is empty, actors run in turn.
};

}  // namespace penstock::testing
