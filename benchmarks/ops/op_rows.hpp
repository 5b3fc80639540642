// These are the rows of the table for single ops with goals. They are measured on one core, in
// turns with what that core can do at most.
#pragma once

namespace penstock::benchmarks {

/// Prints medians of `rounds` rounds, which run on a thread of their own that stays on one core.
void print_op_rows(int rounds);

}  // namespace penstock::benchmarks
