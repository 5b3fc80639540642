// print_convolution_rows() prints a table of convolutions of deep networks, beside oneDNN. All of
// them are measured on one core, in turns with the core's peak.
#pragma once

namespace penstock::benchmarks {

/// Prints medians of `rounds` rounds, and returns whether oneDNN's results are the engine's. They
/// are if oneDNN is not installed. All rounds run on a thread of their own that stays on one core.
bool print_convolution_rows(int rounds);

}  // namespace penstock::benchmarks
