#include "actors/pipeline/living_actors.hpp"

#include <chrono>

#include "actors/system/errors.hpp"

namespace penstock::actors {
namespace {

Failure failure_of(const std::string& name, const caf::error& reason) {
  const Error error = to_error(reason);
  // An error that says only that somebody has ended is CAF's own, and says it of nobody.
  if (error.code() == Errc::closed) return {Errc::internal, name + " has ended", true};
  return {error.code(), name + ": " + error.what(), true};
}

}  // namespace

void LivingActors::actor_begins() noexcept {
  const std::lock_guard lock(mutex_);
  ++living_;
}

void LivingActors::actor_ended(const std::string& name, bool told,
                               const caf::error& reason) noexcept {
  if (!told) {
    try {
      host_->fail(failure_of(name, reason));
    } catch (const std::bad_alloc&) {
      // The text is so short that a string needs no memory for it.
      host_->fail({Errc::out_of_memory, "out of memory", true});
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

}  // namespace penstock::actors
