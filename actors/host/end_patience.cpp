#include "actors/host/end_patience.hpp"

#include <algorithm>
#include <chrono>

namespace penstock::actors {

EndPatience::EndPatience(PipelinePulse& pulse, double stall_seconds, IpuTime ipu_time) noexcept
    : pulse_(pulse), stall_seconds_(stall_seconds), ipu_time_(ipu_time), begin_(pulse.now()) {
  pulse_.look();  // Moves before this moment do not count later.
}

bool EndPatience::lasts() const {
  if (stall_seconds_ == 0) return false;
  const double still_at_work = pulse_.look().seconds();
  if (any_at_work(pulse_.ipus(), ipu_time_ == IpuTime::limited ? still_at_work : 0, stall_seconds_))
    return true;
  // The pulse is looked at again, because an IPU that is no longer at work may have moved
  // meanwhile.
  const double still = pulse_.look().seconds();
  const double waited = std::chrono::duration<double>(pulse_.now() - begin_).count();
  return std::min(still, waited) < stall_seconds_;
}

}  // namespace penstock::actors
