// seconds_of() says how many seconds a function takes, and median() computes the median of several
// measurements.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace penstock::benchmarks {

template <class Function>
double seconds_of(Function&& function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace penstock::benchmarks
