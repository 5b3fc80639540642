#include "actors/pipeline/living_actors.hpp"

#include <chrono>

#include "actors/system/errors.hpp"

namespace penstock::actors {
namespace {

Failure failure_of(const std::string& name, const caf::error& reason, bool stops_update) {
  const Error error = to_error(reason);
  // An error with the code `closed` comes from CAF. It says that an actor has ended, but not which
  // actor.
  if (error.code() == Errc::closed) return {Errc::internal, name + " has ended", stops_update};
  return {error.code(), name + ": " + error.what(), stops_update};
}

}  // namespace

void LivingActors::actor_begins() noexcept {
  const std::lock_guard lock(mutex_);
  ++living_;
}

void LivingActors::actor_ended(const std::string& name, bool was_told_to_end,
                               const caf::error& reason) noexcept {
  ended(name, was_told_to_end, reason, false);
}

void LivingActors::ended(const std::string& name, bool was_told_to_end, const caf::error& reason,
                         bool stops_update) noexcept {
  if (!was_told_to_end) {
    try {
      failure_->fail(failure_of(name, reason, stops_update));
    } catch (const std::bad_alloc&) {
      // The text is so short that a string needs no memory for it.
      failure_->fail({Errc::out_of_memory, "out of memory", stops_update});
    }
  }
  const std::lock_guard lock(mutex_);
  if (--living_ == 0) changed_.notify_all();
}

bool LivingActors::await_end(double limit_seconds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(limit_seconds),
                           [this] { return living_ == 0; });
}

void LivingActors::await_end() noexcept {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return living_ == 0; });
}

}  // namespace penstock::actors
