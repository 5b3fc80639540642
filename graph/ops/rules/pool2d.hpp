// What the poolings with a window share: their shape rule and their samples. No op of its own.
#pragma once

#include "graph/ir/op.hpp"
#include "graph/kernels/vectors/pooling.hpp"

namespace penstock::graph {

/// x [N,C,H,W,...] -> [N,C,OH,OW,...], after checking the window against x.
Shape pooled_shape(const Attributes& attributes, const TensorType& x);
/// x [N,C,H,W] -> [N,C,OH,OW].
TensorType infer_pool2d(const Attributes& attributes, Types in);
/// The pooling of x into y, for kernels.
Pooling pooling(const Attributes& attributes, const Shape& x, const Shape& y);
/// The planes of a part, as a pooling of their own, and where their elements begin.
struct PooledPlanes {
  Pooling pool;
  std::int64_t image, output;
};
PooledPlanes planes_of(const KernelCall& call, const Shape& image, const Shape& output);
/// For Op::units: planes, [N,C,...] or [B,C,...,16], of output 0.
std::int64_t plane_units(const Attributes&, Types inputs, Types outputs);

std::vector<OpSample> pool2d_samples();

}  // namespace penstock::graph
