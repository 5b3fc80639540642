// These ops pool by computing a mean, either of each window or of whole planes.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// The op is torch.nn.functional.avg_pool2d. It computes the mean of each window, in which padding
/// counts as zeros. The input is x [N,C,H,W], the output [N,C,OH,OW]. The attributes are those of
/// max_pool2d.
extern const Op avg_pool2d;
/// Maps (dy [N,C,OH,OW]) to dx [N,C,H,W]. The attributes are those of avg_pool2d, and input_size
/// [H,W].
extern const Op avg_pool2d_gradient;

/// Computes the mean of every plane (torch.nn.AdaptiveAvgPool2d(1)): x [N,C,H,W] becomes [N,C,1,1].
extern const Op global_avg_pool2d;
/// Maps (dy [N,C,1,1]) to dx [N,C,H,W]. The attribute is input_size [H,W].
extern const Op global_avg_pool2d_gradient;

}  // namespace penstock::graph
