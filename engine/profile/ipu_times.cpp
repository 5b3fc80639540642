#include "engine/profile/ipu_times.hpp"

#include "engine/profile/call_times.hpp"
#include "engine/profile/divide_call.hpp"

namespace penstock {

void IpuTimes::add_call(std::int64_t begin_ns, std::int64_t end_ns,
                        std::span<const TraceEvent> events) noexcept {
  for (auto& [ipu, until_ns] : until_ns_) until_ns = begin_ns;
  divide_call(
      until_ns_, end_ns, events,
      [&](int ipu, WaitReason reason, std::int64_t from, std::int64_t to) {
        seconds_[ipu].waiting[static_cast<std::size_t>(reason)] += seconds_between(from, to);
      },
      [&](const TraceEvent& event, std::int64_t from, std::int64_t to) {
        seconds_[event.ipu].active[static_cast<std::size_t>(event.activity)] +=
            seconds_between(from, to);
      });
}

}  // namespace penstock
