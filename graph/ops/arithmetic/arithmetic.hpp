#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// a + b, a - b and a·b, element by element, broadcasting as NumPy does.
extern const Op add;
extern const Op sub;
extern const Op mul;

}  // namespace penstock::graph
