#include "graph/kernels/product_blocks.hpp"

#include <Eigen/Core>
#include <mutex>

namespace penstock::graph {

void fix_product_blocks() {
  static std::once_flag once;
  std::call_once(once, [] { Eigen::setCpuCacheSizes(32 << 10, 1 << 20, 16 << 20); });
}

}  // namespace penstock::graph
