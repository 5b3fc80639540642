// An EventLog has recorded events that nobody has taken yet. It keeps no more events than a limit
// allows: the oldest events are dropped to make room for new ones, and are counted. Recording never
// fails: an event for which there is no memory is dropped and counted, too. Only one thread at a
// time may use a log.
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
  /// Makes a log that keeps no events, and counts every event that it gets as dropped.
  EventLog() = default;
  /// Makes a log that keeps at most `most` events. It allocates memory as events come.
  explicit EventLog(std::int64_t most) : most_(static_cast<std::size_t>(most)) {}

  /// Adds `event`. If there is no memory for the event, it counts as dropped.
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
  /// Adds the events of the log `other`, in their order, and counts the events that `other` has
  /// dropped. `earlier` is added to the micro-batch number of each event that has one.
  void add(const EventLog& other, std::int64_t earlier) noexcept {
    for (std::size_t i = 0; i < other.events_.size(); ++i) {
      Event event = other.events_[(other.oldest_ + i) % other.events_.size()];
      if (event.micro_batch >= 0) event.micro_batch += earlier;
      add(event);
    }
    count_dropped(other.dropped_);
  }
  /// Counts `events` more events as dropped. They were dropped elsewhere, before they could be
  /// added.
  void count_dropped(std::uint64_t events) noexcept { dropped_ += events; }

  std::size_t size() const noexcept { return events_.size(); }
  bool empty() const noexcept { return events_.empty(); }
  /// Appends the events to `to`, in the order in which they were added.
  void append_to(std::vector<Event>& to) const {
    const auto middle = events_.begin() + static_cast<std::ptrdiff_t>(oldest_);
    to.insert(to.end(), middle, events_.end());
    to.insert(to.end(), events_.begin(), middle);
  }
  /// Returns the events, in the order in which they were added, and forgets them. The count of
  /// dropped events stays.
  std::vector<Event> take() {
    std::rotate(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(oldest_),
                events_.end());
    oldest_ = 0;
    return std::exchange(events_, {});
  }
  /// Returns a log with the events and the count of dropped events, and forgets both. Allocates
  /// nothing.
  ///
  /// The result takes the memory of the events, and this log allocates new memory as further events
  /// come. If it had a second buffer instead, each log would keep, for as long as the model lives,
  /// twice the memory of the most events that were ever recorded between two readings.
  EventLog hand_over() noexcept {
    EventLog empty;
    empty.most_ = most_;
    return std::exchange(*this, std::move(empty));
  }

  /// Returns how many events were dropped, because there was no room or no memory for them.
  std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  std::size_t most_ = 0;
  // Once there are `most_` events, this is a ring that begins at `oldest_`.
  std::vector<Event> events_;
  std::size_t oldest_ = 0;
  std::uint64_t dropped_ = 0;
};

/// A TraceLog is a log of what IPUs have done.
using TraceLog = EventLog<TraceEvent>;

}  // namespace penstock::actors
