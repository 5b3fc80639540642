#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Copies x, of any shape; its gradient is dy itself.
extern const Op identity;

}  // namespace penstock::graph
