// sum_over_threads() makes one measurement on several threads at once.
#pragma once

#include <thread>
#include <vector>

namespace penstock::benchmarks {

/// Runs `measure` on `threads` threads at the same time, and returns the sum of the results.
template <class Measure>
double sum_over_threads(int threads, const Measure& measure) {
  std::vector<double> results(static_cast<std::size_t>(threads));
  std::vector<std::thread> running;
  for (double& result : results) running.emplace_back([&] { result = measure(); });
  for (std::thread& thread : running) thread.join();
  double sum = 0;
  for (const double result : results) sum += result;
  return sum;
}

}  // namespace penstock::benchmarks
