// The ops that pool windows share the declarations in this header: their shape rule, sizes, units
// and samples.
#pragma once

#include "graph/ir/op.hpp"
#include "graph/kernels/vectors/operands.hpp"

namespace penstock::graph {

/// Maps x [N,C,H,W,...] to [N,C,OH,OW,...]. First checks the window against x.
Shape pooled_shape(const Attributes& attributes, const TensorType& x);
/// Maps x [N,C,H,W] to [N,C,OH,OW].
TensorType infer_pool2d(const Attributes& attributes, Types in);
/// Returns the sizes of the pooling from x to y, in the form that kernels take.
Pooling pooling(const Attributes& attributes, const Shape& x, const Shape& y);
/// A PooledPlanes has the pooling of those planes alone that are in one part of the work, and the
/// elements at which the planes begin in the image and in the output.
struct PooledPlanes {
  Pooling pool;
  std::int64_t image, output;
};
PooledPlanes planes_of(const KernelCall& call, const Shape& image, const Shape& output);
/// Serves as Op::units: returns the number of planes of output 0, which is [N,C,...] or
/// [B,C,...,16].
std::int64_t plane_units(const Attributes&, Types inputs, Types outputs);

std::vector<OpSample> pool2d_samples();

}  // namespace penstock::graph
