// Processor time that this process has taken.
#pragma once

namespace penstock::benchmarks {

/// Of all its threads, in the program and in the system.
double processor_seconds();

}  // namespace penstock::benchmarks
