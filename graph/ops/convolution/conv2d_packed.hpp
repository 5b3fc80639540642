// A convolution reads its weights in another order than that of the model's tensor. In inference,
// where weights stay the same from call to call, one op packs them in that order, and another one
// reads them there.
#pragma once

#include <optional>

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Maps weight [O,C/groups,kh,kw] to the packed weights of conv2d [groups,units,depth,results]. The
/// order of the elements in memory depends on the instruction set of this process. The attributes
/// are stride, padding, dilation and groups of conv2d, and input_size [H,W] of x, because the taps
/// that see nothing but padding are left out.
extern const Op conv2d_pack;
/// Computes the same bits as conv2d. The inputs are x [N,C,H,W], the weights as conv2d_pack gives
/// them and, if there is one, bias [O]. The attributes are those of conv2d, kernel [kh,kw], and
/// out_channels, which is O.
extern const Op conv2d_packed;

/// Serves as Op::packed_form of conv2d.
std::optional<PackedForm> packed_conv2d_form(const Attributes& attributes, Types inputs);

}  // namespace penstock::graph
