// An EndPatience says how long to wait for the end of a pipeline: for a slow pipeline, as long as
// it takes, and for a dead one, only for a time that `stall_seconds` limits. EndPatience sends no
// message and needs no actor.
#pragma once

#include <cstdint>

#include "actors/host/pipeline_pulse.hpp"

namespace penstock::actors {

/// An IpuTime says for how long an IPU may work on one thing before it counts as dead.
enum class IpuTime : std::uint8_t {
  limited,  ///< An IPU may take as many seconds as seconds_allowed() returns.
  /// An IPU may take any amount of time, because the caller has to wait for the IPU's thread in any
  /// case.
  unlimited,
};

class EndPatience {
 public:
  /// Begins to wait for the pipeline of `pulse`. If `stall_seconds` is 0, lasts() is never true.
  EndPatience(PipelinePulse& pulse, double stall_seconds,
              IpuTime ipu_time = IpuTime::limited) noexcept;

  /// Calls `ended` with the seconds that it may take, again and again until it returns true or
  /// lasts() is false. Returns whether `ended` has returned true.
  bool until(const auto& ended) const {
    do {
      if (ended(stall_seconds_)) return true;
    } while (lasts());
    return false;
  }

  /// Returns whether something has moved in the last `stall_seconds`, or an IPU is at work and has
  /// not used up its IpuTime. In the first `stall_seconds`, the function returns true in any case.
  bool lasts() const;

 private:
  PipelinePulse& pulse_;
  double stall_seconds_;
  IpuTime ipu_time_;
  Stillness::Clock::time_point begin_;
};

}  // namespace penstock::actors
