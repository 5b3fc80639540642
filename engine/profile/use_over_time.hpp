// use_over_time() says how the memory of each IPU fills and empties as micro-batches come and go.
// It is a pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/profile.hpp"

namespace penstock {

/// Says what an IPU holds from a moment on.
struct IpuUse {
  std::int64_t time_ns = 0;  ///< Is the moment, by the steady clock.
  int ipu = 0;
  std::int64_t in_flight = 0;       ///< Counts the micro-batches that its stages hold.
  std::int64_t resident_bytes = 0;  ///< Is the memory that is in use all the time.
  std::int64_t stash_bytes = 0;     ///< Is the stash of the micro-batches in flight.
  std::int64_t working_bytes = 0;   ///< Is the scratch of the running program; 0 if none runs.
};

/// Returns, in order of time, what an IPU holds after each begin and end of a program among the
/// events of `profile`. Micro-batches that were in flight before these events are not counted.
std::vector<IpuUse> use_over_time(const Profile& profile);

}  // namespace penstock
