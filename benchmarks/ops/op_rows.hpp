// These are the rows of the table for single ops with goals, measured on one core by turns with
// what that core can do at most.
#pragma once

namespace penstock::benchmarks {

/// Prints medians of so many rounds. They run on a thread of their own, which stays on one core.
void print_op_rows(int rounds);

}  // namespace penstock::benchmarks
