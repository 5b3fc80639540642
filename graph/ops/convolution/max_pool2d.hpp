#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Is torch.nn.functional.max_pool2d. The input is x [N,C,H,W]. The outputs are y and the winners,
/// both f32 [N,C,OH,OW]. A winner is the window position that the maximum came from (kh * kernel
/// width + kw); the gradient needs nothing else. Of equal pixels the first wins; a NaN wins over
/// every number.
/// The attributes are kernel, stride (by default the kernel) and padding (0), each one integer or
/// [height,width].
extern const Op max_pool2d;
/// Maps (winners [N,C,OH,OW], dy [N,C,OH,OW]) to dx [N,C,H,W]. The attributes are those of
/// max_pool2d, and input_size [H,W].
extern const Op max_pool2d_gradient;

}  // namespace penstock::graph
