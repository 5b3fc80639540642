// A FailureLatch keeps the first failure of a pipeline. A failure ends the pipeline: its actors do
// no more work. Any thread may use a FailureLatch.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "actors/host/bell.hpp"
#include "actors/host/failure.hpp"
#include "actors/host/update_latch.hpp"

namespace penstock::actors {

/// Returns the error that every call throws after one call has thrown the failure with the text
/// `failure`.
Error closed_by(const std::string& failure);

class FailureLatch {
 public:
  /// Makes a latch whose failure closes `updates` and rings `bell`, which both outlive the latch.
  FailureLatch(Bell& bell, UpdateLatch& updates) : bell_(bell), updates_(updates) {}

  /// Closes the updates, and then keeps `failure` if it is the first one. Therefore, whoever learns
  /// of the failure can rely on it that no further update begins.
  void fail(Failure failure) noexcept;
  bool failed() const;
  /// Returns the text of the first failure, or an empty text if there was no failure.
  std::string text() const;
  /// Returns the code of the first failure, or nothing if there was no failure.
  std::optional<Errc> code() const;
  /// Returns the first failure if no call has thrown it yet, and nothing otherwise.
  std::optional<Error> untold() const;
  /// Checks that there was no failure.
  /// @throws Error if there was a failure: an Error with the failure's own code and text if no call
  /// has thrown it yet, and closed otherwise.
  void expect_none();

 private:
  Bell& bell_;
  UpdateLatch& updates_;
  mutable std::mutex mutex_;
  std::optional<Failure> failure_;
  bool thrown_ = false;  // If this is true, a call has thrown the failure.
};

}  // namespace penstock::actors
