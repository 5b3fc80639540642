#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes (Σ|x|^p)^(1/p) along the axes that the attribute axes lists; see sum. The attribute p
/// is 2 by default, and above 0. The gradient is 0 where the norm is 0.
extern const Op vector_norm;

}  // namespace penstock::graph
