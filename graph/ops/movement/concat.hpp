#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Puts one or more tensors behind one another along the attribute `axis` (0 by default; a negative
/// axis counts from the end). Their other dimensions are the same.
extern const Op concat;

}  // namespace penstock::graph
