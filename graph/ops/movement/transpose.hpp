#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Axis i of the output is axis axes[i] of x; attribute `axes` is a permutation of x's axes.
extern const Op transpose;

}  // namespace penstock::graph
