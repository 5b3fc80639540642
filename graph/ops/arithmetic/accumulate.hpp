#pragma once

#include "graph/op.hpp"

namespace penstock::graph {

/// (sum, x) -> sum + x, in the place of `sum`. Two inputs of one shape.
extern const Op accumulate;

}  // namespace penstock::graph
