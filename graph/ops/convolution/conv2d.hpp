#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// The op is the cross-correlation torch.nn.functional.conv2d. The inputs are x [N,C,H,W], weight
/// [O,C/groups,kh,kw] and, if there is one, bias [O]. The output is [N,O,OH,OW] with
/// OH = (H + 2*padding - dilation*(kh-1) - 1) / stride + 1, rounded down.
/// The attributes are stride (1 by default), padding (0) and dilation (1), each one integer or
/// [height,width], groups (1), and relu (0), which says whether negative results become 0.
extern const Op conv2d;
/// Maps (dy [N,O,OH,OW], weight) to dx [N,C,H,W]. The attributes are those of conv2d, and
/// input_size [H,W].
extern const Op conv2d_input_gradient;
/// Maps (x [N,C,H,W], dy [N,O,OH,OW]) to dweight. The attributes are those of conv2d, and
/// kernel [kh,kw].
extern const Op conv2d_weight_gradient;

}  // namespace penstock::graph
