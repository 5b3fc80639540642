// processor_seconds() says how much processor time this process has taken.
#pragma once

namespace penstock::benchmarks {

/// Returns the processor time of all threads of the process so far, in the program and in the
/// system.
double processor_seconds();

}  // namespace penstock::benchmarks
