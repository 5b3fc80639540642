#include "actors/execution/trace_log.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace penstock::actors {

void TraceLog::add(const TraceEvent& event) noexcept {
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

void TraceLog::add(const TraceLog& other) noexcept {
  for (std::size_t i = 0; i < other.events_.size(); ++i)
    add(other.events_[(other.oldest_ + i) % other.events_.size()]);
  count_dropped(other.dropped_);
}

void TraceLog::append_to(std::vector<TraceEvent>& to) const {
  const auto middle = events_.begin() + static_cast<std::ptrdiff_t>(oldest_);
  to.insert(to.end(), middle, events_.end());
  to.insert(to.end(), events_.begin(), middle);
}

std::vector<TraceEvent> TraceLog::take() {
  std::ranges::rotate(events_, events_.begin() + static_cast<std::ptrdiff_t>(oldest_));
  oldest_ = 0;
  return std::exchange(events_, {});
}

// The memory goes with the events, and the log's grows anew. With a second buffer to go on with,
// each stage would keep, for as long as the model is there, twice the memory of the most events
// that were ever recorded between two readings.
TraceLog TraceLog::hand_over() noexcept {
  TraceLog empty;
  empty.most_ = most_;
  return std::exchange(*this, std::move(empty));
}

}  // namespace penstock::actors
