#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes the mean of every plane (torch.nn.AdaptiveAvgPool2d(1)): x [N,C,H,W] becomes [N,C,1,1].
extern const Op global_avg_pool2d;
/// Maps (dy [N,C,1,1]) to dx [N,C,H,W]. The attribute is input_size [H,W].
extern const Op global_avg_pool2d_gradient;

}  // namespace penstock::graph
