// What the poolings with a window share: their shape rule and their samples. No op of its own.
#pragma once

#include "graph/kernels/pooling.hpp"
#include "graph/op.hpp"

namespace penstock::graph {

/// x [N,C,H,W,...] -> [N,C,OH,OW,...], after checking the window against x.
Shape pooled_shape(const Attributes& attributes, const TensorType& x);
/// x [N,C,H,W] -> [N,C,OH,OW].
TensorType infer_pool2d(const Attributes& attributes, Types in);
/// The pooling of x into y, for kernels.
Pooling pooling(const Attributes& attributes, const Shape& x, const Shape& y);
std::vector<OpSample> pool2d_samples();

}  // namespace penstock::graph
