#include "actors/system/mortal.hpp"

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>

namespace penstock::actors {

Mortal::Mortal(Roll& roll) noexcept : roll_(roll) {
  const std::lock_guard lock(roll.mutex_);
  after_ = roll.first_;
  if (after_) after_->before_ = this;
  roll.first_ = this;
}

void Mortal::tell_to_end() noexcept {
  {
    const std::lock_guard lock(roll_.mutex_);
    if (!listed_) return;
    roll_.remove(*this);
    told_to_end_ = true;
  }
  send_exit();
}

bool Mortal::leave_roll() noexcept {
  const std::lock_guard lock(roll_.mutex_);
  if (listed_) roll_.remove(*this);
  return told_to_end_;
}

void Roll::remove(Mortal& mortal) noexcept {
  (mortal.before_ ? mortal.before_->after_ : first_) = mortal.after_;
  if (mortal.after_) mortal.after_->before_ = mortal.before_;
  mortal.listed_ = false;
}

// An actor that is about to be destroyed cannot be told, because its handle() returns null. Such an
// actor waits for the lock before it leaves the roll, so that `mortal` is valid while the lock is
// held.
void Roll::tell_all() noexcept {
  for (;;) {
    // This handle is released only after the lock, because its release may destroy the actor.
    caf::strong_actor_ptr actor;
    Mortal* mortal;
    {
      const std::lock_guard lock(mutex_);
      mortal = first_;
      if (!mortal) return;
      actor = mortal->handle();
      remove(*mortal);
      mortal->told_to_end_ = true;
    }
    if (actor) mortal->send_exit();
  }
}

void tell_to_end(const caf::actor& actor) noexcept {
  if (!actor) return;
  if (auto* const mortal = dynamic_cast<Mortal*>(caf::actor_cast<caf::abstract_actor*>(actor)))
    mortal->tell_to_end();
}

}  // namespace penstock::actors
