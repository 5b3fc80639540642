// A convolution reads its weights in another order than that of the model's tensor. In inference,
// where weights stay the same from call to call, conv2d_pack packs them in that order once, and
// conv2d_inference reads them there.
#pragma once

#include <optional>

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Maps weight [O,C/groups,kh,kw] to packed weights [groups,units,depth,results]. The order of the
/// elements in memory depends on the instruction set of this process. The attributes are stride,
/// padding, dilation and groups of conv2d, and input_size [H,W] of x, because the taps that see
/// nothing but padding are left out.
extern const Op conv2d_pack;

/// Serves as Op::packed_form of conv2d and of conv2d_inference.
std::optional<PackedForm> packed_conv2d_form(const Attributes& attributes, Types inputs);

}  // namespace penstock::graph
