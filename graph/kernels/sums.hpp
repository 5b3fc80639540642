// Sums of many floats: their order is fixed by the count, their error does not grow with it.
#pragma once

#include <Eigen/Core>
#include <algorithm>

namespace penstock::graph::kernels {

/// The sum of a one-dimensional Eigen array expression: short runs in float, these in double.
template <class Expression>
double long_sum(const Expression& terms) {
  constexpr Eigen::Index run = 1024;
  double sum = 0;
  for (Eigen::Index i = 0; i < terms.size(); i += run)
    sum += static_cast<double>(terms.segment(i, std::min(run, terms.size() - i)).sum());
  return sum;
}

}  // namespace penstock::graph::kernels
