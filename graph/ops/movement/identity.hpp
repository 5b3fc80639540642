#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// A copy of x, of any shape; its gradient is dy itself.
extern const Op identity;

}  // namespace penstock::graph
