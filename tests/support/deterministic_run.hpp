// A DeterministicRun executes the actors of a deterministic ActorSystem on the calling thread, one
// message at a time: in an order drawn from a seed (the same seed gives the same order), or actor
// after actor in turn, as if each message took the same time.
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

class DeterministicRun {
 public:
  /// `system` was made with SystemOptions::deterministic. @throws std::bad_cast if it was not.
  DeterministicRun(actors::ActorSystem& system, std::uint64_t seed);
  /// In turn, without a seed.
  explicit DeterministicRun(actors::ActorSystem& system);

  /// Lets one actor that has mail handle one message; false if none has.
  bool step();
  /// Steps until nobody has mail. @returns how many.
  /// @throws std::runtime_error after `limit` steps: the actors keep each other busy for ever.
  std::size_t run(std::size_t limit = 10'000'000);
  /// Steps until `done()` holds; false if nobody has mail before it does.
  bool run_until(const std::function<bool()>& done, std::size_t limit = 10'000'000);

  /// Makes room for the next 60 times that an actor gets mail, while none has any: no allocation of
  /// the scheduler's can fail at these, which is none of the engine's and would lose the actor.
  void make_room();

  /// Moves the virtual clock: delayed messages and timeouts that fall due become mail.
  void advance(std::chrono::nanoseconds time);

 private:
  caf::scheduler::test_coordinator& scheduler_;
  std::optional<std::mt19937_64> random_;  // Without it, actors run in turn.
};

}  // namespace penstock::testing
