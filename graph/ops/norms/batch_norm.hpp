// Batch norm normalises by the statistics of the micro-batch in training, and by running statistics
// in inference.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Computes y = (x - mean)/sqrt(variance + eps)·weight + bias, where mean and variance are those of
/// a channel in this micro-batch (Ioffe and Szegedy, 2015). The inputs are x [N,C,...] and weight,
/// bias, running_mean and running_var [C]; the attributes are eps (1e-5 by default) and momentum
/// (0.1). The outputs are y, mean and 1/sqrt(variance + eps) [C], and the new running_mean and
/// running_var: old·(1 - momentum) + new·momentum, with the unbiased variance. The kernel throws
/// Error shape_mismatch if a channel has a single value.
extern const Op batch_norm;
/// Does what batch_norm does, but keeps the means of the statistics of all micro-batches so far.
/// The sixth input, batches [C], counts the micro-batches, and so does the sixth output. The count
/// is there once for each channel, so that channels can be computed at the same time.
extern const Op cumulative_batch_norm;
/// Does what batch_norm does, but keeps no statistics and needs none in inference: the inputs are x
/// [N,C,...], weight [C] and bias [C], and the outputs are y, mean and 1/sqrt(variance + eps).
extern const Op untracked_batch_norm;
/// Maps (dy, x, mean, inverse_std, weight) to dx, dweight [C] and dbias [C], which share their sums.
extern const Op batch_norm_gradients;

}  // namespace penstock::graph
