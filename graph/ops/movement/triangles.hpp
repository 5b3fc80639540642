// These ops keep a triangle of each matrix.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Keeps, in each matrix of x [...,M,N], the elements of row i up to column i + diagonal, and
/// replaces the others by 0. The attribute diagonal is 0 by default.
extern const Op tril;
/// Keeps, in each matrix of x [...,M,N], the elements of row i from column i + diagonal on, and
/// replaces the others by 0. The attribute diagonal is 0 by default.
extern const Op triu;

}  // namespace penstock::graph
