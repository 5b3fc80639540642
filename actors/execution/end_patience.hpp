// EndPatience: how long the end of a pipeline is waited for. A pipeline that is slow is waited for
// as long as it takes, one that is dead for a time that its setup bounds. Sends no message and
// needs no actor.
#pragma once

#include "actors/execution/host_port.hpp"

namespace penstock::actors {

class EndPatience {
 public:
  /// Begins to be patient with the pipeline of `host`. Where `stall_seconds` is 0, nothing is
  /// waited for.
  EndPatience(HostPort& host, double stall_seconds) noexcept;

  /// Waits until `ended` returns true, and returns whether it has. It is called with the seconds
  /// that it may take, again and again while lasts() is true.
  bool until(const auto& ended) const {
    do {
      if (ended(stall_seconds_)) return true;
    } while (lasts());
    return false;
  }

  /// Returns whether something has moved in the last `stall_seconds`, or an IPU is at work within
  /// the seconds that seconds_allowed() gives it. For the first `stall_seconds` it is true.
  bool lasts() const;

 private:
  HostPort& host_;
  double stall_seconds_;
  HostPort::Clock::time_point begin_;
};

}  // namespace penstock::actors
