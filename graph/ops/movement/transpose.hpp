#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Makes axis axes[i] of x axis i of the output; the attribute `axes` is a permutation of the axes
/// of x.
extern const Op transpose;

}  // namespace penstock::graph
