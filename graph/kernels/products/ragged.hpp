// Strips at the right border of a matrix. Compiled once per instruction set.
#pragma once

#include "graph/kernels/products/tile.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// The tile at the right border, `columns` wide: nothing is written past them, nor is more than
/// them read of the bias.
void multiply_ragged(Strip strip, std::int64_t columns);

/// As many panels as `columns` fill, and the ragged one; the bias, if any, is of the columns.
void multiply_columns(Strip strip, std::int64_t columns);

}  // namespace penstock::graph::PENSTOCK_ISA
