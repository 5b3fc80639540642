#pragma once

#include "graph/op.hpp"

namespace penstock::graph {

/// A tensor of one number. No inputs; attributes `shape` (integers) and `value` (real).
extern const Op fill;

}  // namespace penstock::graph
