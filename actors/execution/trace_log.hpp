// An EventLog has recorded events that nobody has taken yet. There are never more than a limit: the
// oldest ones make room for new ones and are counted. Recording never fails: an event for which
// there is no memory is counted, too. One thread uses it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "penstock/trace.hpp"

namespace penstock::actors {

template <class Event>
class EventLog {
 public:
  /// Keeps no event, and counts them.
  EventLog() = default;
  /// Keeps at most `most` events. Memory grows as events come, up to that number.
  explicit EventLog(std::int64_t most) : most_(static_cast<std::size_t>(most)) {}

  /// Adds an event. One for which there is no memory counts as dropped.
  void add(const Event& event) noexcept {
    if (events_.size() < most_) {
      try {
        events_.push_back(event);
      } catch (const std::bad_alloc&) {
        ++dropped_;
      }
      return;
    }
    ++dropped_;
    if (most_ == 0) return;
    events_[oldest_] = event;
    oldest_ = (oldest_ + 1) % most_;
  }
  /// Adds the events of another log, in their order, and counts those that it has dropped. The
  /// number of each micro-batch grows by `earlier`.
  void add(const EventLog& other, std::int64_t earlier) noexcept {
    for (std::size_t i = 0; i < other.events_.size(); ++i) {
      Event event = other.events_[(other.oldest_ + i) % other.events_.size()];
      if (event.micro_batch >= 0) event.micro_batch += earlier;
      add(event);
    }
    count_dropped(other.dropped_);
  }
  /// Counts events that were dropped elsewhere, before they could be added.
  void count_dropped(std::uint64_t events) noexcept { dropped_ += events; }

  std::size_t size() const noexcept { return events_.size(); }
  bool empty() const noexcept { return events_.empty(); }
  /// Appends the events to `to`, in the order in which they were added.
  void append_to(std::vector<Event>& to) const {
    const auto middle = events_.begin() + static_cast<std::ptrdiff_t>(oldest_);
    to.insert(to.end(), middle, events_.end());
    to.insert(to.end(), events_.begin(), middle);
  }
  /// Hands over the events, in the order in which they were added, and their memory. What was
  /// dropped stays counted.
  std::vector<Event> take() {
    std::ranges::rotate(events_, events_.begin() + static_cast<std::ptrdiff_t>(oldest_));
    oldest_ = 0;
    return std::exchange(events_, {});
  }
  /// Returns a log of the events and of what was dropped, and forgets both. Allocates nothing.
  ///
  /// The memory goes with the events, and the log's grows anew. With a second buffer to go on with,
  /// each log would keep, for as long as the model is there, twice the memory of the most events
  /// that were ever recorded between two readings.
  EventLog hand_over() noexcept {
    EventLog empty;
    empty.most_ = most_;
    return std::exchange(*this, std::move(empty));
  }

  /// Returns how many events there was no room or no memory for.
  std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  std::size_t most_ = 0;
  std::vector<Event> events_;  // Is a ring once it is full, which begins at `oldest_`.
  std::size_t oldest_ = 0;
  std::uint64_t dropped_ = 0;
};

/// Has what IPUs did.
using TraceLog = EventLog<TraceEvent>;

}  // namespace penstock::actors
