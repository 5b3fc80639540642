// LivingActors counts a pipeline's actors that have not ended yet, and fails the host's call if an
// actor ends that was not told to end. It needs no message and no actor, so that the supervisor's
// end and a lack of memory are noticed, too.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "actors/host/failure_latch.hpp"
#include "actors/system/end_watch.hpp"

namespace penstock::actors {

class LivingActors final : public EndWatch {
 public:
  explicit LivingActors(std::shared_ptr<FailureLatch> failure) noexcept
      : failure_(std::move(failure)) {}

  void actor_begins() noexcept override;
  void actor_ended(const std::string& name, bool was_told_to_end,
                   const caf::error& reason) noexcept override;
  /// Returns a watch that counts in `living`, for actors without which a weight update cannot go
  /// on. If any other actor ends, an update that has begun is finished nevertheless.
  static std::shared_ptr<EndWatch> of_updaters(const std::shared_ptr<LivingActors>& living) {
    return {living, &living->updaters_};
  }

  /// Waits until all actors have ended. Returns false if some still live after `limit_seconds`.
  bool await_end(double limit_seconds);
  /// Waits until all actors have ended, however long that takes.
  void await_end() noexcept;

 private:
  class Updaters final : public EndWatch {
   public:
    explicit Updaters(LivingActors& all) noexcept : all_(all) {}
    void actor_begins() noexcept override { all_.actor_begins(); }
    void actor_ended(const std::string& name, bool was_told_to_end,
                     const caf::error& reason) noexcept override {
      all_.ended(name, was_told_to_end, reason, true);
    }

   private:
    LivingActors& all_;
  };

  void ended(const std::string& name, bool was_told_to_end, const caf::error& reason,
             bool stops_update) noexcept;

  std::shared_ptr<FailureLatch> failure_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int living_ = 0;
  Updaters updaters_{*this};
};

}  // namespace penstock::actors
