// A TraceLog has recorded events that nobody has taken yet. There are never more than a limit: the
// oldest ones make room for new ones and are counted. Recording never fails: an event for which
// there is no memory is counted, too. One thread uses it.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/trace.hpp"

namespace penstock::actors {

class TraceLog {
 public:
  /// Makes a log that keeps no event and counts every event as dropped.
  TraceLog() = default;
  /// Keeps at most `most` events. Memory grows as events come, up to that number.
  explicit TraceLog(std::int64_t most) : most_(static_cast<std::size_t>(most)) {}

  /// Adds an event. One for which there is no memory counts as dropped.
  void add(const TraceEvent& event) noexcept;
  /// Adds the events of another log, in their order, and counts those that it has dropped.
  void add(const TraceLog& other) noexcept;
  /// Counts events that were dropped elsewhere, before they could be added.
  void count_dropped(std::uint64_t events) noexcept { dropped_ += events; }

  std::size_t size() const noexcept { return events_.size(); }
  bool empty() const noexcept { return events_.empty(); }
  /// Appends the events to `to`, in the order in which they were added.
  void append_to(std::vector<TraceEvent>& to) const;
  /// Hands over the events, in the order in which they were added, and their memory. What was
  /// dropped stays counted.
  std::vector<TraceEvent> take();
  /// Returns a log of the events and of what was dropped, and forgets both. Allocates nothing.
  TraceLog hand_over() noexcept;

  /// Returns how many events were dropped because there was no room or no memory for them.
  std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  std::size_t most_ = 0;
  std::vector<TraceEvent> events_;  // Is a ring once it is full, which begins at `oldest_`.
  std::size_t oldest_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace penstock::actors
