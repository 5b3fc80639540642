#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// The op is torch.nn.functional.max_pool2d. The input is x [N,C,H,W]. The outputs are y and the
/// winners, both f32 [N,C,OH,OW]. A winner is the position of the maximum in its window (kh *
/// kernel width + kw); the gradient needs nothing else. The first of equal pixels wins, and a NaN
/// wins over every number. The attributes are kernel, stride (by default the kernel), padding
/// (0) and dilation (1), each one integer or [height,width], and ceil_mode (0).
extern const Op max_pool2d;
/// Maps (winners [N,C,OH,OW], dy [N,C,OH,OW]) to dx [N,C,H,W]. The attributes are those of
/// max_pool2d, and input_size [H,W].
extern const Op max_pool2d_gradient;

}  // namespace penstock::graph
