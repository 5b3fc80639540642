// print_op_rows() prints the rows of the table for single ops with goals. The ops are measured on
// one core, in turns with the largest speeds that the core can reach.
#pragma once

namespace penstock::benchmarks {

/// Prints medians of `rounds` rounds. All rounds run on a thread of their own that stays on one
/// core.
void print_op_rows(int rounds);

}  // namespace penstock::benchmarks
