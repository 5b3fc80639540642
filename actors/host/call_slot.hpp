// A CallSlot holds the answer of the call by the host that is under way; there is at most one such
// call. Any thread may use a CallSlot.
#pragma once

#include <mutex>
#include <optional>

#include "actors/host/answer.hpp"
#include "actors/host/bell.hpp"

namespace penstock::actors {

class CallSlot {
 public:
  /// Makes a slot that rings `bell` with each answer. The bell outlives the slot.
  explicit CallSlot(Bell& bell) : bell_(bell) {}

  /// Begins a call, which is under way until end(). @throws Error busy if another call is under
  /// way.
  void begin();
  /// Checks that no call is under way. @throws Error busy if a call is under way.
  void expect_none() const;
  /// Answers the call that is under way.
  void answer(Answer answer) noexcept;
  bool answered() const;
  /// Returns whether a call is under way that has not been answered.
  bool awaits_answer() const;
  /// Ends the call. Returns the call's answer, if there is one.
  std::optional<Answer> end() noexcept;

 private:
  void expect_none_locked() const;

  Bell& bell_;
  mutable std::mutex mutex_;
  bool under_way_ = false;
  std::optional<Answer> answer_;
};

}  // namespace penstock::actors
