#include "graph/kernels/products/workspace.hpp"

#include "graph/kernels/products/blocks.hpp"

namespace penstock::graph {

std::int64_t product_floats(std::int64_t columns, std::int64_t depth) noexcept {
  return left_floats(depth) + column_block(columns, depth) * at_most(depth, depth_block);
}

}  // namespace penstock::graph
