#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// The op is connectionist temporal classification (torch.nn.CTCLoss, here with the batch first):
/// minus the logarithm of the probability that a sequence spells its labels. The inputs are
/// log_probabilities [N,T,C], labels i64 [N,S], steps i64 [N], which are the lengths of the
/// sequences, 0 to T, and counts i64 [N], which are their numbers of labels, 0 to S. The output is
/// [], or [N] without reduction. The attributes are reduction, whose "mean" divides each loss by
/// its number of labels first; blank (0 by default), a class that is no label; and zero_infinity (0
/// by default). Labels that a sequence cannot spell have an infinite loss or, if zero_infinity is
/// 1, a loss and a gradient of 0.
extern const Op ctc_loss;
/// Maps (log_probabilities, labels, steps, counts, dloss) to d log_probabilities.
extern const Op ctc_loss_gradient;

}  // namespace penstock::graph
