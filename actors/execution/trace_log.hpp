// An EventLog has recorded events that nobody has taken yet. It keeps no more than a limit: the
// oldest events are dropped to make room for new ones, and are counted. Recording never fails: an
// event for which there is no memory is dropped and counted, too. One thread at a time uses a log.
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
  /// Makes a log that keeps no event, but counts those that it is given as dropped.
  EventLog() = default;
  /// Keeps at most `most` events. Memory grows as events come, up to that number.
  explicit EventLog(std::int64_t most) : most_(static_cast<std::size_t>(most)) {}

  /// Adds an event. An event for which there is no memory counts as dropped.
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
  /// Adds the events of the log `other`, in their order, and counts those that `other` has dropped.
  /// `earlier` is added to the number of each event's micro-batch.
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
  /// Hands over the events, in the order in which they were added, and their memory. The count of
  /// dropped events stays.
  std::vector<Event> take() {
    std::ranges::rotate(events_, events_.begin() + static_cast<std::ptrdiff_t>(oldest_));
    oldest_ = 0;
    return std::exchange(events_, {});
  }
  /// Returns a log with the events and the count of dropped ones, and forgets both. Allocates
  /// nothing.
  ///
  /// The events' memory goes with them, and this log allocates new memory as further events come.
  /// If it had a second buffer instead, each log would keep, for as long as the model lives, twice
  /// the memory of the most events that were ever recorded between two readings.
  EventLog hand_over() noexcept {
    EventLog empty;
    empty.most_ = most_;
    return std::exchange(*this, std::move(empty));
  }

  /// Returns how many events were dropped, because there was no room or no memory for them.
  std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  std::size_t most_ = 0;
  std::vector<Event> events_;  // Is a ring that begins at `oldest_`, once `most_` events are there.
  std::size_t oldest_ = 0;
  std::uint64_t dropped_ = 0;
};

/// Is a log of what IPUs did.
using TraceLog = EventLog<TraceEvent>;

}  // namespace penstock::actors
