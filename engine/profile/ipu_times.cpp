#include "engine/profile/ipu_times.hpp"

#include <algorithm>

#include "engine/profile/call_times.hpp"

namespace penstock {
void IpuTimes::add_call(std::int64_t begin_ns, std::int64_t end_ns,
                        std::span<const TraceEvent> events) {
  for (const auto& [ipu, seconds] : seconds_) until_ns_[ipu] = begin_ns;
  for (const TraceEvent& event : events) {
    std::int64_t& until = until_ns_.try_emplace(event.ipu, begin_ns).first->second;
    const std::int64_t last = std::max(until, end_ns);
    const std::int64_t begin = std::clamp(event.begin_ns, until, last);
    const std::int64_t ready = std::clamp(event.ready_ns, until, begin);
    const std::int64_t end = std::clamp(event.end_ns, begin, last);
    TimeSplit& split = seconds_[event.ipu];
    split.waiting[static_cast<std::size_t>(event.waited_for)] += seconds_between(until, ready);
    split.waiting[static_cast<std::size_t>(WaitReason::dispatch)] += seconds_between(ready, begin);
    split.active[static_cast<std::size_t>(event.activity)] += seconds_between(begin, end);
    until = end;
  }
  for (const auto& [ipu, until] : until_ns_)
    seconds_[ipu].waiting[static_cast<std::size_t>(WaitReason::call_end)] +=
        seconds_between(std::min(until, end_ns), end_ns);
}

}  // namespace penstock
