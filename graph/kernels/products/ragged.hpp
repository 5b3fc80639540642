// Ragged strips lie at the right border of a matrix. The build compiles these functions once per
// instruction set.
#pragma once

#include "graph/kernels/products/tile.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Computes the tile at the right border, which is `columns` wide. Nothing is written past these
/// columns, and no more than these are read of the bias.
void multiply_ragged(Strip strip, std::int64_t columns);

/// Computes as many panels as `columns` fill, and the ragged one. The bias, if there is one,
/// belongs to the columns.
void multiply_columns(Strip strip, std::int64_t columns);

}  // namespace penstock::graph::PENSTOCK_ISA
