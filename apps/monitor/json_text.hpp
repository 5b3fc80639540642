// What the monitor sees as JSON, for scripts. docs/monitoring.md describes it.
#pragma once

#include <string>
#include <vector>

#include "apps/monitor/observation.hpp"

namespace monitor {

/// Returns what was seen in an interval of so many seconds, which the rates are over.
std::string json_text(const std::vector<Observation>& processes, double interval_seconds);
/// Returns what every actor waits for.
std::string json_text(const std::vector<ProcessWaits>& processes);

}  // namespace monitor
