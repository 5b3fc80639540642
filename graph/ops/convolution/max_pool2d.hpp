#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// torch.nn.functional.max_pool2d. Input x [N,C,H,W]; outputs y [N,C,OH,OW] and, of the same type,
/// which window position each maximum came from (kh * kernel width + kw), all that the gradient
/// needs. Of equal pixels the first wins; a NaN wins over every number.
/// Attributes kernel, stride (kernel) and padding (0), one integer or [height,width].
extern const Op max_pool2d;
/// (winners [N,C,OH,OW], dy [N,C,OH,OW]) -> dx [N,C,H,W]. Attributes as above and input_size [H,W].
extern const Op max_pool2d_gradient;

}  // namespace penstock::graph
