// report_on_call() makes the report on a call from the events that the call's programs have
// recorded. It is a pure function.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "graph/plan/plan.hpp"
#include "penstock/call_report.hpp"
#include "penstock/trace.hpp"

namespace penstock {

/// A CallSpan describes one call of a plan. Times are nanoseconds of the steady clock.
struct CallSpan {
  /// `first_micro_batch` is the number of the first micro-batch of each replica in the call.
  std::int64_t first_micro_batch = 0;
  std::int64_t micro_batches = 0;
  std::int64_t replicas = 1;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Returns the seconds from `begin_ns` to `end_ns`.
inline double seconds_between(std::int64_t begin_ns, std::int64_t end_ns) {
  return static_cast<double>(end_ns - begin_ns) * 1e-9;
}

/// Returns whether `event` is a run of a stage's program.
inline bool is_program(const TraceEvent& event) {
  return event.activity == Activity::forward || event.activity == Activity::backward;
}

/// A function of the type Returns says whether a call returns micro-batch number `micro_batch` of
/// output number `output`, both counted from 0.
using Returns = std::function<bool(std::size_t output, std::int64_t micro_batch)>;

/// Returns the report on `call`. `events` has all events of the call, and may have events of other
/// calls.
CallReport report_on_call(const graph::Plan& plan, const CallSpan& call, const Returns& returns,
                          std::span<const TraceEvent> events);

}  // namespace penstock
