// This tells the processor time that this process has taken.
#pragma once

namespace penstock::benchmarks {

/// Returns the time of all threads of the process, in the program and in the system.
double processor_seconds();

}  // namespace penstock::benchmarks
