// TraceLog: recorded events that nobody has taken yet, of which there are never more than a limit:
// the oldest ones make room for new ones and are counted. Used from one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/trace.hpp"

namespace penstock {

class TraceLog {
 public:
  /// Keeps no event, and counts them.
  TraceLog() = default;
  /// Keeps at most `most` events. Memory grows as events come, up to that number.
  explicit TraceLog(std::int64_t most) : most_(static_cast<std::size_t>(most)) {}

  void add(const TraceEvent& event);
  /// Counts events that were dropped elsewhere, before they could be added.
  void count_dropped(std::uint64_t events) noexcept { dropped_ += events; }

  std::size_t size() const noexcept { return events_.size(); }
  bool empty() const noexcept { return events_.empty(); }
  /// Appends the events to `to`, in the order in which they were added.
  void append_to(std::vector<TraceEvent>& to) const;
  /// Hands over the events, in the order in which they were added, and their memory. What was
  /// dropped stays counted.
  std::vector<TraceEvent> take();
  /// Forgets the events and what was dropped, and keeps the memory for those that come.
  void clear() noexcept;

  /// How many events there was no room for.
  std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  std::size_t most_ = 0;
  std::vector<TraceEvent> events_;  // once full, a ring that begins at `oldest_`
  std::size_t oldest_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace penstock
