#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// The mean of every plane (torch.nn.AdaptiveAvgPool2d(1)): x [N,C,H,W] -> [N,C,1,1].
extern const Op global_avg_pool2d;
/// (dy [N,C,1,1]) -> dx [N,C,H,W]. Attribute input_size [H,W].
extern const Op global_avg_pool2d_gradient;

}  // namespace penstock::graph
