#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Cross-correlation (torch.nn.functional.conv2d). Inputs x [N,C,H,W], weight [O,C/groups,kh,kw]
/// and, if there is one, bias [O]; output [N,O,OH,OW] with
/// OH = (H + 2*padding - dilation*(kh-1) - 1) / stride + 1, rounded down.
/// Attributes stride (1), padding (0), dilation (1), one integer or [height,width]; groups (1).
extern const Op conv2d;
/// (dy [N,O,OH,OW], weight) -> dx [N,C,H,W]. Attributes as above and input_size [H,W].
extern const Op conv2d_input_gradient;
/// (x [N,C,H,W], dy [N,O,OH,OW]) -> dweight. Attributes as above and kernel [kh,kw].
extern const Op conv2d_weight_gradient;

}  // namespace penstock::graph
