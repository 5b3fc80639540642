// Call times lead from what a call's programs recorded to its report. They are pure.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "graph/plan/plan.hpp"
#include "penstock/call_report.hpp"
#include "penstock/trace.hpp"

namespace penstock {

/// One call of a plan. Times are nanoseconds of the steady clock.
struct CallSpan {
  std::int64_t first_micro_batch = 0;  ///< Is the first micro-batch of each replica.
  std::int64_t micro_batches = 0;
  std::int64_t replicas = 1;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Says whether a call returns an output's micro-batch, both counted from 0.
using Returns = std::function<bool(std::size_t output, std::int64_t micro_batch)>;

/// `events` are at least those of the call.
CallReport report_on_call(const graph::Plan& plan, const CallSpan& call, const Returns& returns,
                          std::span<const TraceEvent> events);

}  // namespace penstock
