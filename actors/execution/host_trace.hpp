// A HostTrace holds the events of the actors that have no IPU. The actors write it on whatever
// threads they run on, and the host's thread reads it. This class does not use CAF.
#pragma once

#include <cstdint>
#include <mutex>

#include "actors/execution/trace_log.hpp"
#include "graph/values/stopwatch.hpp"
#include "penstock/trace.hpp"

namespace penstock::actors {

class HostTrace {
 public:
  /// Makes a trace that keeps at most `most` events, the newest ones.
  explicit HostTrace(std::int64_t most) : log_(most) {}

  /// Adds `event`, which ends now. If there is no memory for the event, it counts as dropped.
  void record(HostEvent event) noexcept {
    const std::lock_guard lock(mutex_);
    event.end_ns = steady_ns();
    log_.add(event);
  }
  /// Returns the events, and forgets them. Allocates nothing.
  EventLog<HostEvent> take() noexcept {
    const std::lock_guard lock(mutex_);
    return log_.hand_over();
  }

 private:
  std::mutex mutex_;
  EventLog<HostEvent> log_;
};

/// Calls `action`, and records it in `trace` as `event`, with the time that it took. If `trace` is
/// null, nothing is recorded.
void traced(HostTrace* trace, HostEvent event, const auto& action) {
  if (!trace) return action();
  event.begin_ns = steady_ns();
  action();
  trace->record(event);
}

}  // namespace penstock::actors
