#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Joins one or more tensors in their order along the attribute `axis` (0 by default; a negative
/// axis counts from the end). All other dimensions of the tensors, and
/// the types of their elements, must be the same.
extern const Op concat;

}  // namespace penstock::graph
