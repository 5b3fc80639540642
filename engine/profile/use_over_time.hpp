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
  std::int64_t resident_bytes = 0;  ///< Is what is in use all the time.
  std::int64_t stash_bytes = 0;     ///< Is what backwards need of the micro-batches in flight.
  std::int64_t working_bytes = 0;   ///< Is what the program works with that runs; 0 if none does.
};

/// Returns what each IPU holds whenever that changes, in order of time, as far as the events of
/// `profile` say so. What was in flight before these is not counted.
std::vector<IpuUse> use_over_time(const Profile& profile);

}  // namespace penstock
