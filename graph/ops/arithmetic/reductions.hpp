// These ops reduce a tensor along some of its axes.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Sums x over the axes that the attribute axes lists; negative axes count from the end. The output
/// lacks these axes, or has 1 there if the attribute keep (0 by default) is 1.
extern const Op sum;
/// Computes the mean over some axes, which must have at least one element each; see sum. The sum is
/// divided by the number of elements less the attribute correction (0 by default), as in
/// torch.var, and there must be more elements than that.
extern const Op mean;
/// Computes the largest element along some axes, which must have at least one element each; see
/// sum. A NaN is larger than any number. Equal elements share the gradient evenly, as with
/// torch.amax.
extern const Op amax;
/// Computes the smallest element along some axes, and does in all else what amax does.
extern const Op amin;

/// Sums x to a tensor whose shape is the attribute `shape`. The sums are over all dimensions along
/// which broadcasting repeats a tensor of that shape to make it a tensor of the shape of x. The
/// gradient of an operand that was broadcast is such a sum.
extern const Op reduce_to;

/// Returns `gradient` summed to the shape of input `i`, or `gradient` itself if it has that shape
/// already.
ValueId reduced_to_input(GradientContext& context, ValueId gradient, std::size_t i);

}  // namespace penstock::graph
