// EndPatience says how long the end of a pipeline is waited for. A slow pipeline is waited for as
// long as it takes; a dead one is waited for only for a time that `stall_seconds` bounds.
// EndPatience sends no message and needs no actor.
#pragma once

#include <cstdint>

#include "actors/host/pipeline_pulse.hpp"

namespace penstock::actors {

/// Says for how long an IPU may be in the middle of something before it counts as dead.
enum class IpuTime : std::uint8_t {
  limited,  ///< An IPU may take as many seconds as seconds_allowed() returns.
  /// An IPU may take for ever, because the caller has to wait for the IPU's thread in any case.
  unlimited,
};

class EndPatience {
 public:
  /// Begins to wait for the pipeline of `pulse`. If `stall_seconds` is 0, nothing is waited for.
  EndPatience(PipelinePulse& pulse, double stall_seconds,
              IpuTime ipu_time = IpuTime::limited) noexcept;

  /// Waits until `ended` returns true, and returns whether it has. `ended` is called with the
  /// seconds that it may take, again and again while lasts() is true.
  bool until(const auto& ended) const {
    do {
      if (ended(stall_seconds_)) return true;
    } while (lasts());
    return false;
  }

  /// Returns whether something has moved in the last `stall_seconds`, or an IPU is at work and has
  /// not used up its IpuTime. Returns true in any case for the first `stall_seconds`.
  bool lasts() const;

 private:
  PipelinePulse& pulse_;
  double stall_seconds_;
  IpuTime ipu_time_;
  Stillness::Clock::time_point begin_;
};

}  // namespace penstock::actors
