#include "engine/values/trace_log.hpp"

#include <algorithm>
#include <utility>

namespace penstock {

void TraceLog::add(const TraceEvent& event) {
  if (events_.size() < most_) {
    events_.push_back(event);
    return;
  }
  ++dropped_;
  if (most_ == 0) return;
  events_[oldest_] = event;
  oldest_ = (oldest_ + 1) % most_;
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

void TraceLog::clear() noexcept {
  events_.clear();
  oldest_ = 0;
  dropped_ = 0;
}

}  // namespace penstock
