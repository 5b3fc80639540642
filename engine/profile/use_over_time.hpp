// use_over_time() says how the memory of each IPU fills and empties as micro-batches come and go.
// It is a pure function.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "penstock/profile.hpp"
#include "penstock/trace.hpp"

namespace penstock {

/// An IpuUse says what an IPU holds from a moment on.
struct IpuUse {
  std::int64_t time_ns = 0;  ///< `time_ns` is the moment, by the steady clock.
  int ipu = 0;
  std::int64_t in_flight = 0;       ///< The stages of the IPU hold this many micro-batches.
  std::int64_t resident_bytes = 0;  ///< This many bytes are in use all the time.
  std::int64_t stash_bytes = 0;     ///< The micro-batches in flight have this many bytes of stash.
  std::int64_t working_bytes = 0;   ///< This is the size of the scratch, or 0 if no program runs.
};

/// Returns, in order of time, what an IPU holds after each begin and end of a program among
/// `events`, which are events of `profile`. Micro-batches that were in flight before these events
/// are not counted.
std::vector<IpuUse> use_over_time(const Profile& profile, std::span<const TraceEvent> events);

}  // namespace penstock
