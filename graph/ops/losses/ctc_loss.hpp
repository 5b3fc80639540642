#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Connectionist temporal classification (torch.nn.CTCLoss, here with the batch first): minus the
/// logarithm of the probability that a sequence spells its labels. Inputs log_probabilities
/// [N,T,C], labels i64 [N,S], steps i64 [N] (the sequence's length, 0 to T) and counts i64 [N] (of
/// its labels, 0 to S); output [], or [N] without reduction. Attributes reduction, whose "mean"
/// divides each loss by its number of labels first; blank (0), a class that is no label;
/// zero_infinity (0): what cannot be spelled has loss and gradient 0, not infinity and NaN.
extern const Op ctc_loss;
/// (log_probabilities, labels, steps, counts, dloss) -> d log_probabilities.
extern const Op ctc_loss_gradient;

}  // namespace penstock::graph
