// These are large samples of ops whose kernels work in several bands, blocks and tiles. The ops'
// own samples are too small for that.
#pragma once

#include <vector>

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Returns the op's own samples and the large ones.
std::vector<OpSample> all_samples_of(const Op& op);

}  // namespace penstock::graph
