#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// These compute a + b, a - b and a·b, element by element, and broadcast as NumPy does.
extern const Op add;
extern const Op sub;
extern const Op mul;

}  // namespace penstock::graph
