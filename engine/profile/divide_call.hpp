// divide_call() divides each IPU's time in a call by what the IPU did and what it waited for,
// without gaps and without overlaps. The figures of a profile and its trace both come from this
// function.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>

#include "penstock/trace.hpp"

namespace penstock {

/// Divides the time of each IPU in a call that ended at `end_ns`. `until_ns` has, by the number of
/// an IPU, the time until which the IPU's time is divided already, and is updated. IPUs that are
/// not in it are left out. `events` are those of the call, in order of time; what lies outside the
/// call is left out. For each stretch of time the function calls either `wait(ipu, reason, from_ns,
/// to_ns)` or `work(event, from_ns, to_ns)`.
void divide_call(std::map<int, std::int64_t>& until_ns, std::int64_t end_ns,
                 std::span<const TraceEvent> events, const auto& wait, const auto& work) {
  for (const TraceEvent& event : events) {
    const auto found = until_ns.find(event.ipu);
    if (found == until_ns.end()) continue;
    std::int64_t& until = found->second;
    const std::int64_t last = std::max(until, end_ns);
    const std::int64_t begin = std::clamp(event.begin_ns, until, last);
    const std::int64_t ready = std::clamp(event.ready_ns, until, begin);
    const std::int64_t end = std::clamp(event.end_ns, begin, last);
    wait(event.ipu, event.waited_for, until, ready);
    wait(event.ipu, WaitReason::dispatch, ready, begin);
    work(event, begin, end);
    until = end;
  }
  for (const auto& [ipu, until] : until_ns)
    wait(ipu, WaitReason::call_end, std::min(until, end_ns), end_ns);
}

}  // namespace penstock
