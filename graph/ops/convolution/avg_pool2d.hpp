#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// torch.nn.functional.avg_pool2d: the mean over each window, in which padding counts as zeros.
/// Input x [N,C,H,W], output [N,C,OH,OW]. Attributes as for max_pool2d.
extern const Op avg_pool2d;
/// (dy [N,C,OH,OW]) -> dx [N,C,H,W]. Attributes as above and input_size [H,W].
extern const Op avg_pool2d_gradient;

}  // namespace penstock::graph
