#include "actors/execution/end_patience.hpp"

#include <algorithm>

namespace penstock::actors {

EndPatience::EndPatience(HostPort& host, double stall_seconds) noexcept
    : host_(host), stall_seconds_(stall_seconds) {
  host_.still_seconds();  // what has moved before now does not count as moving later
}

bool EndPatience::lasts() const {
  if (stall_seconds_ == 0) return false;
  const double still = host_.still_seconds();
  const double waited = std::chrono::duration<double>(Clock::now() - begin_).count();
  return std::min(still, waited) < stall_seconds_ ||
         any_at_work(host_.ipus(), still, stall_seconds_);
}

}  // namespace penstock::actors
