#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// The op is torch.nn.functional.conv_transpose2d, the gradient of a convolution's input. The
/// inputs are x [N,C,H,W] and weight [C,O/groups,kh,kw]. The output is [N,O,OH,OW] with OH = (H -
/// 1)*stride - 2*padding + dilation*(kh-1) + 1 + output_padding. The attributes are stride (1 by
/// default), padding (0), dilation (1) and output_padding (0), each one integer or [height,width],
/// and groups (1). The output padding is below the stride.
extern const Op conv_transpose2d;

}  // namespace penstock::graph
