#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// One or more tensors behind one another along attribute `axis` (0; negative counts from the end);
/// their other dimensions are the same.
extern const Op concat;

}  // namespace penstock::graph
