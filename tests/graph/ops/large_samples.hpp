// These are samples of ops whose kernels work piece by piece on what is large: in several bands,
// blocks and tiles, for which the ops' own samples are too small.
#pragma once

#include <vector>

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// The op's own samples and the large ones.
std::vector<OpSample> all_samples_of(const Op& op);

}  // namespace penstock::graph
