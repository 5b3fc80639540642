// Batch norm normalises by the statistics of the micro-batch in training, and by running statistics
// in inference.
#pragma once

#include <cstddef>
#include <optional>

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

/// Each of these ops does what one of the norms does, and then adds and clamps, with the bits that
/// add, relu and hardtanh have: if the flag adds is 1, the last input, of the type of x, is added
/// to y, which is then clamped if the attributes low and high say so. The compiler makes nodes of
/// these ops.
extern const Op finished_batch_norm;
extern const Op finished_cumulative_batch_norm;
extern const Op finished_untracked_batch_norm;

/// Returns the node that computes at once what `node`, a norm of this header, computes and what
/// `reader` makes of it. Input `position` of `reader` is the output y of `node`; both are nodes of
/// `graph`. Returns nothing if there is no such node. The returned node has the name of `node`, and
/// the block of `reader`. Its output 0 is that of `reader`, and its other outputs are those of
/// `node`.
std::optional<Node> joined_norm(const Graph& graph, const Node& node, const Node& reader,
                                std::size_t position);

}  // namespace penstock::graph
