// Mortal and Roll tell actors to end, even if no memory is left. An actor's exit message is made
// before the actor, and the roll of an actor system lists the actors that have not ended and have
// not been told to end.
#pragma once

#include <caf/fwd.hpp>
#include <caf/intrusive_ptr.hpp>
#include <mutex>

namespace penstock::actors {

class Roll;

/// A Mortal is an actor of the engine that can be told to end. Any thread may use it.
class Mortal {
 public:
  Mortal(const Mortal&) = delete;
  Mortal& operator=(const Mortal&) = delete;

  /// Makes the actor end once it has handled the mail that is in its mailbox now. Only the first
  /// call does anything. The function allocates nothing. The caller holds a handle of the actor.
  void tell_to_end() noexcept;

 protected:
  explicit Mortal(Roll& roll) noexcept;
  ~Mortal() { leave_roll(); }

  /// Takes the actor off the roll, so that nobody tells it to end from now on. Returns whether the
  /// actor has been told to end.
  bool leave_roll() noexcept;

 private:
  friend class Roll;

  /// Puts the exit message into the actor's mailbox. This is called at most once.
  virtual void send_exit() noexcept = 0;
  /// Returns a handle of the actor, or null if it is about to be destroyed.
  virtual caf::strong_actor_ptr handle() noexcept = 0;

  Roll& roll_;
  Mortal *before_ = nullptr, *after_ = nullptr;
  bool listed_ = true;  // If this is true, the actor is on the roll.
  bool told_to_end_ = false;
};

/// A Roll lists the actors that have not ended and have not been told to end. Any thread may use
/// it.
class Roll {
 public:
  Roll() = default;
  Roll(const Roll&) = delete;
  Roll& operator=(const Roll&) = delete;

  /// Tells all actors on the roll to end. Allocates nothing.
  void tell_all() noexcept;

 private:
  friend class Mortal;

  void remove(Mortal& mortal) noexcept;  // The caller has locked `mutex_`.

  std::mutex mutex_;
  Mortal* first_ = nullptr;
};

/// Tells `actor` to end. Does nothing if the handle is null, or if no ActorSystem has spawned the
/// actor.
void tell_to_end(const caf::actor& actor) noexcept;

}  // namespace penstock::actors
