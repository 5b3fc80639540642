// FailureLatch keeps the first failure of a running model. A failure ends the model. Any thread may
// use a FailureLatch.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "actors/host/bell.hpp"
#include "actors/host/failure.hpp"
#include "actors/host/update_latch.hpp"

namespace penstock::actors {

/// Returns the error that every further call throws after a failure with the text `failure`.
Error closed_by(const std::string& failure);

class FailureLatch {
 public:
  /// Makes a latch whose failure closes `updates` and rings `bell`, which both outlive the latch.
  FailureLatch(Bell& bell, UpdateLatch& updates) : bell_(bell), updates_(updates) {}

  /// Closes the updates, and then keeps the failure if it is the first one. Whoever learns of the
  /// failure can therefore rely on it that no update begins any more.
  void fail(Failure failure) noexcept;
  bool failed() const;
  /// Returns what the first failure said, or an empty text if there was none.
  std::string text() const;
  /// Returns the first failure if no call has thrown it yet, and nothing otherwise.
  std::optional<Error> untold() const;
  /// Checks that there was no failure.
  /// @throws Error if there was one: the failure itself, with its own code and text, if no call has
  /// thrown it yet; closed otherwise.
  void expect_none();

 private:
  Bell& bell_;
  UpdateLatch& updates_;
  mutable std::mutex mutex_;
  std::optional<Failure> failure_;
  bool thrown_ = false;  // Says whether a call has thrown the failure.
};

}  // namespace penstock::actors
