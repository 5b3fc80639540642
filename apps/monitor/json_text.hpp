// These functions return as JSON what the monitor sees, for scripts. docs/monitoring.md describes
// the fields.
#pragma once

#include <string>
#include <vector>

#include "apps/monitor/observation.hpp"

namespace monitor {

/// Returns `processes` as JSON. The rates in it are means over `interval_seconds`.
std::string json_text(const std::vector<Observation>& processes, double interval_seconds);
/// Returns as JSON what every actor of `processes` waits for.
std::string json_text(const std::vector<ProcessWaits>& processes);

}  // namespace monitor
