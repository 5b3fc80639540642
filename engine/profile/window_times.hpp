// WindowTimes measures how much of the time the IPUs are idle while the pipeline works: in
// training, from the first program of a window of micro-batches to the last one, and in inference
// from the first program of a call to the last one. It is a plain value.
#pragma once

#include <cstdint>
#include <span>

#include "engine/profile/call_times.hpp"
#include "penstock/trace.hpp"

namespace penstock {

class WindowTimes {
 public:
  /// Measures the idle time of `ipus` IPUs, whose windows have `window` micro-batches; 0 makes the
  /// whole call one window.
  WindowTimes(std::int64_t ipus, std::int64_t window) : ipus_(ipus), window_(window) {}

  /// Adds the windows of `call`. `events` are those of the call.
  void add_call(const CallSpan& call, std::span<const TraceEvent> events);

  /// Returns the share of the time in which the IPUs were idle, from 0 to 1.
  double bubble() const noexcept;

 private:
  std::int64_t ipus_;
  std::int64_t window_;
  double busy_ns_ = 0;   // `busy_ns_` is the time that all IPUs together worked in all windows.
  double whole_ns_ = 0;  // `whole_ns_` is the length of all windows together.
};

}  // namespace penstock
