#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = factor·x. The attribute factor is 1 by default; x may have any shape.
extern const Op scale;

}  // namespace penstock::graph
