#include "engine/profile/window_times.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace penstock {

void WindowTimes::add_call(const CallSpan& call, std::span<const TraceEvent> events) {
  struct Window {
    std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
  };
  const std::int64_t window = window_ > 0 ? window_ : std::max<std::int64_t>(1, call.micro_batches);
  std::vector<Window> windows(static_cast<std::size_t>((call.micro_batches + window - 1) / window));
  for (const TraceEvent& event : events) {
    const std::int64_t number = event.micro_batch - call.first_micro_batch;
    if (!is_program(event) || number < 0 || number >= call.micro_batches) continue;
    Window& of_event = windows[static_cast<std::size_t>(number / window)];
    of_event.begin_ns = std::min(of_event.begin_ns, event.begin_ns);
    of_event.end_ns = std::max(of_event.end_ns, event.end_ns);
  }
  // Not only programs count as work: gradient sums may be exchanged, and weights may be loaded,
  // while other IPUs still run programs of the window.
  for (const TraceEvent& event : events) {
    const std::int64_t number = event.micro_batch - call.first_micro_batch;
    if (number < 0 || number >= call.micro_batches) continue;
    const Window& of_event = windows[static_cast<std::size_t>(number / window)];
    const std::int64_t begin = std::max(event.begin_ns, of_event.begin_ns);
    const std::int64_t end = std::min(event.end_ns, of_event.end_ns);
    if (end > begin) busy_ns_ += static_cast<double>(end - begin);
  }
  for (const Window& each : windows)
    if (each.end_ns > each.begin_ns) whole_ns_ += static_cast<double>(each.end_ns - each.begin_ns);
}

double WindowTimes::bubble() const noexcept {
  const double all = whole_ns_ * static_cast<double>(ipus_);
  return all > 0 ? std::clamp(1 - busy_ns_ / all, 0.0, 1.0) : 0;
}

}  // namespace penstock
