// These functions make the monitor's picture of all processes as text. The picture has a row per
// IPU and a row per model.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/monitor/observation.hpp"

namespace monitor {

/// Returns the lines of the picture. Each line has at most `width` characters, unless the table's
/// columns cannot be made so narrow; a `width` of 0 is no limit.
std::vector<std::string> tables_of(const std::vector<Observation>& processes, std::size_t width);

/// Returns a text that says what every actor of `processes` waits for.
std::string text_of(const std::vector<ProcessWaits>& processes);

/// Returns a number of bytes as a text, such as "12.3 MiB".
std::string bytes_text(std::int64_t bytes);
/// Returns a number of seconds as a text of a few digits, such as "12.3 ms" or "1h2m3s".
std::string seconds_text(double seconds);
/// Returns whole numbers as a text in which ranges are joined, such as "0-3,5".
std::string numbers_text(const std::vector<std::int64_t>& numbers);

}  // namespace monitor
