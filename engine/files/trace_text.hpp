// These pure functions spell the objects of a file in Chrome's trace-event format.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "penstock/trace.hpp"

namespace penstock {

/// The process of a trace that has a row for each IPU, and the one that has a row for each part of
/// the host's side.
inline constexpr int ipu_process = 0, host_process = 1;

/// Returns nanoseconds as a number of microseconds.
std::string microseconds(std::int64_t nanoseconds);

/// Returns the metadata that names a row, such as "IPU 3".
std::string row_name(int process, std::int32_t row, const std::string& name);

/// Returns the slice of an event, in the row of its IPU. Times count from `origin_ns`.
std::string program_run(const TraceEvent& event, std::int64_t origin_ns);

/// Returns when the first of `events` began; 0 if there is none.
std::int64_t first_begin(std::span<const TraceEvent> events);

}  // namespace penstock
