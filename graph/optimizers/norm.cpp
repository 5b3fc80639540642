#include "graph/optimizers/norm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace penstock::graph {
namespace {

/// Independent sums, so that the compiler may keep them in vectors without changing bits.
constexpr std::size_t lanes = 16;

double block_squared_norm(std::span<const float> block) {
  std::array<double, lanes> sums{};
  const std::size_t whole = block.size() / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const double element = block[i + lane];
      sums[lane] += element * element;
    }
  for (std::size_t i = whole; i < block.size(); ++i) {
    const double element = block[i];
    sums[i - whole] += element * element;
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

double squared_norm(std::span<const float> elements) {
  double sum = 0;
  for (std::size_t begin = 0; begin < elements.size(); begin += norm_block)
    sum +=
        block_squared_norm(elements.subspan(begin, std::min(norm_block, elements.size() - begin)));
  return sum;
}

double clip_factor(std::span<const double> squared_norms, double max_norm) {
  const double norm = std::sqrt(std::accumulate(squared_norms.begin(), squared_norms.end(), 0.0));
  const double factor = max_norm / (norm + 1e-6);
  return factor > 1 ? 1 : factor;
}

}  // namespace penstock::graph
