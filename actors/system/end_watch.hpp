// An EndWatch learns that actors have ended. Its functions are called on the thread on which an
// actor ends, because there might be no memory for a message.
#pragma once

#include <caf/error.hpp>
#include <memory>
#include <string>
#include <utility>

namespace penstock::actors {

/// An EndWatch watches any number of actors. Its functions are called on any thread, and throw
/// nothing.
class EndWatch {
 public:
  virtual ~EndWatch() = default;

  /// Takes note that an actor is about to be spawned. A call of actor_ended() follows in any case,
  /// even if the actor is not spawned.
  virtual void actor_begins() noexcept = 0;
  /// Takes note that the actor `name` has ended and its state is gone. `was_told_to_end` is true if
  /// the actor was told to end, or was not spawned after all. If it is false, `reason` says why the
  /// actor has ended.
  virtual void actor_ended(const std::string& name, bool was_told_to_end,
                           const caf::error& reason) noexcept = 0;
};

/// A Watched is the name of an actor and its watch, which is null if nobody watches the actor.
struct Watched {
  std::string name = {};
  std::shared_ptr<EndWatch> watch = {};
};

/// An EndNotice tells an actor's watch, once, that the actor has ended.
class EndNotice {
 public:
  explicit EndNotice(Watched watched) noexcept : watched_(std::move(watched)) {
    if (watched_.watch) watched_.watch->actor_begins();
  }
  EndNotice(EndNotice&&) noexcept = default;
  EndNotice& operator=(EndNotice&&) = delete;
  ~EndNotice() { give(true, {}); }

  /// Calls the watch's actor_ended(). Only the first call does anything.
  void give(bool was_told_to_end, const caf::error& reason) noexcept {
    if (const auto watch = std::exchange(watched_.watch, nullptr))
      watch->actor_ended(watched_.name, was_told_to_end, reason);
  }

 private:
  Watched watched_;
};

}  // namespace penstock::actors
