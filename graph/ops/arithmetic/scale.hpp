#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// y = factor·x: attribute factor (1), x of any shape.
extern const Op scale;

}  // namespace penstock::graph
