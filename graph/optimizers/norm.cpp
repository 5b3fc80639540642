#include "graph/optimizers/norm.hpp"

#include <cmath>
#include <numeric>

#include "graph/kernels/kernel_table.hpp"

namespace penstock::graph {

double squared_norm(std::span<const float> elements, float scale) {
  return kernel_table().updates.squared_norm(std::ssize(elements), scale, elements.data());
}

double clip_factor(std::span<const double> squared_norms, double max_norm, bool exact) {
  const double norm = std::sqrt(std::accumulate(squared_norms.begin(), squared_norms.end(), 0.0));
  const double factor = max_norm / (exact ? norm : norm + 1e-6);
  return factor > 1 ? 1 : factor;
}

}  // namespace penstock::graph
