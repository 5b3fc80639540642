#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = x/sqrt(mean(x²) + eps)·weight over the last axes (Zhang and Sennrich, 2019), as
/// many as weight has. The inputs are x [...,M...] and weight [M...]; the attribute eps is 1.19e-7,
/// the resolution of f32, by default. The outputs are y, and 1/sqrt(mean(x²) + eps) [...].
extern const Op rms_norm;
/// Maps (dy, x, inverse_rms, weight) to dx.
extern const Op rms_norm_input_gradient;
/// Maps (dy, x, inverse_rms) to dweight [M...].
extern const Op rms_norm_weight_gradient;

}  // namespace penstock::graph
