// These functions turn reports into text for people.
#pragma once

#include <string>

#include "penstock/report.hpp"

namespace penstock {

/// Returns a table with a line for each number of `call` and for each number that follows from
/// them, such as the samples of a call. A line says what its number counts.
std::string to_string(const CallSize& call);

/// Returns one line that says how the work is shared and what that is expected to gain, such as "4
/// stages, from conv1, conv2, fc1, loss; the slowest has 31 % of the work; expected: 1.9 times the
/// throughput of one stage, on 2 threads".
std::string describe_stages(const CompileReport& report);
/// Returns a table of everything that `report` says.
std::string to_string(const CompileReport& report);

}  // namespace penstock
