#include "actors/execution/end_patience.hpp"

#include <algorithm>
#include <chrono>

namespace penstock::actors {

EndPatience::EndPatience(HostPort& host, double stall_seconds, IpuTime ipu_time) noexcept
    : host_(host), stall_seconds_(stall_seconds), ipu_time_(ipu_time), begin_(host.now()) {
  host_.still_seconds();  // what has moved before now does not count as moving later
}

bool EndPatience::lasts() const {
  if (stall_seconds_ == 0) return false;
  const double still_at_work = host_.still_seconds();
  if (any_at_work(host_.ipus(), ipu_time_ == IpuTime::limited ? still_at_work : 0, stall_seconds_))
    return true;
  // This looks again, for an IPU that is at work no more may have moved meanwhile.
  const double still = host_.still_seconds();
  const double waited = std::chrono::duration<double>(host_.now() - begin_).count();
  return std::min(still, waited) < stall_seconds_;
}

}  // namespace penstock::actors
