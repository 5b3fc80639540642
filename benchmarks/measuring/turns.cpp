#include "benchmarks/measuring/turns.hpp"

#include <cstddef>

#include "benchmarks/measuring/measure.hpp"

namespace penstock::benchmarks {

std::vector<double> medians_by_turns(int rounds,
                                     const std::vector<std::function<double()>>& measurements) {
  std::vector<std::vector<double>> measured(measurements.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < measurements.size(); ++i) measured[i].push_back(measurements[i]());
  std::vector<double> medians;
  for (const std::vector<double>& values : measured) medians.push_back(median(values));
  return medians;
}

double call_seconds(const std::function<void()>& call) {
  std::vector<double> times;
  double total = 0;
  for (call(); total < 5e-3; total += times.back()) times.push_back(seconds_of(call));
  return median(times);
}

}  // namespace penstock::benchmarks
