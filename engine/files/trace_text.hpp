// These pure functions return the JSON objects of a file in Chrome's trace-event format.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "penstock/trace.hpp"

namespace penstock {

/// A trace shows two processes, which have these numbers. `ipu_process` has a row for each IPU.
/// `host_process` has a row for the host's calls, and a row for each actor on the host's side.
inline constexpr int ipu_process = 0, host_process = 1;

/// Returns a time in nanoseconds as the text of a number of microseconds.
std::string microseconds(std::int64_t nanoseconds);

/// Returns the object that gives row `row` of process `process` its name, such as "IPU 3".
std::string row_name(int process, std::int32_t row, const std::string& name);

/// Returns the row of the process `host_process` that shows what the event's actor did. Each stage
/// has a reducer of its own.
int host_row(const HostEvent& event);
/// Returns the name of the row that host_row() returns, such as "reducer of stage 2".
std::string host_row_name(const HostEvent& event);
/// Returns what the trace says of `event` besides its time, such as "replica":0,"stage":2. Fields
/// of the event that are -1 are left out.
std::string host_arguments(const HostEvent& event);

/// Returns the object that shows `event` as a bar in the row of the event's IPU. Its time counts
/// from `origin_ns`.
std::string program_run(const TraceEvent& event, std::int64_t origin_ns);

/// Returns the time in nanoseconds at which the earliest of `events` began; 0 if there are none.
std::int64_t first_begin(std::span<const TraceEvent> events);

}  // namespace penstock
