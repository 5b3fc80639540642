// IpuTimes divides the time that each IPU spends in calls by what the IPU did and what it waited
// for. Every nanosecond of a call counts for exactly one activity or one reason for waiting. It is
// a plain value.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "penstock/profile.hpp"
#include "penstock/trace.hpp"

namespace penstock {

class IpuTimes {
 public:
  /// Adds IPU number `ipu`, which of_ipus() then has even if the IPU never does anything.
  void add_ipu(int ipu) {
    seconds_.try_emplace(ipu);
    until_ns_.try_emplace(ipu);
  }
  /// Adds a call that took from `begin_ns` to `end_ns`. `events` are those of the call, in order of
  /// time; what lies outside the call is left out, and so are events of IPUs that were not added.
  void add_call(std::int64_t begin_ns, std::int64_t end_ns,
                std::span<const TraceEvent> events) noexcept;

  /// Returns the time of each IPU in all calls, by the IPU's number.
  const std::map<int, TimeSplit>& of_ipus() const noexcept { return seconds_; }

 private:
  std::map<int, TimeSplit> seconds_;
  // `until_ns_` has the time until which each IPU's call is divided.
  std::map<int, std::int64_t> until_ns_;
};

}  // namespace penstock
