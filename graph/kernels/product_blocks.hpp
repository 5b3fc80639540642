// How matrix products are cut into blocks: fixed, for the order of their sums follows from it.
#pragma once

namespace penstock::graph {

/// Makes Eigen cut its products for caches of one size, whatever this machine's are: the same
/// program then computes the same bits on another machine. At the first call; any thread.
void fix_product_blocks();

}  // namespace penstock::graph
