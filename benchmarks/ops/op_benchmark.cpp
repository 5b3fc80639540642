// This program measures the speed of single ops on one core, for both layouts of their tensors. It
// prints the median time of all calls, the same time scaled to 40 images, and the speed in three
// ways: in GFLOP/s, as a percentage of the floating-point peak, and as a percentage of the
// roofline. The peak is measured in turns with the calls. The roofline is the peak or, if it is
// less, the speed at which memory can deliver the op's operands, by a bandwidth that is measured
// first. Keep the program on one core: taskset -c 1 op_benchmark [--benchmark_filter=...]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/machine/fma_peak.hpp"
#include "benchmarks/machine/memory_bandwidth.hpp"
#include "benchmarks/measuring/measure.hpp"
#include "benchmarks/ops/op_call.hpp"
#include "benchmarks/ops/op_cases.hpp"
#include "graph/kernels/isa.hpp"

namespace penstock::benchmarks {
namespace {

/// A Roof has the largest speeds that this core can reach.
struct Roof {
  double gflops;     ///< `gflops` is in GFLOP/s.
  double gigabytes;  ///< `gigabytes` is the GB/s of main memory.
  double near;       ///< `near` is the GB/s of 4 MB that are read again and again.

  /// Returns the GFLOP/s that work of `cost` can reach at most. The operands of the work count as
  /// cached if they have at most 8 MiB.
  double over(const graph::Cost& cost) const {
    constexpr double cached = 8 << 20;
    const double bandwidth = cost.bytes <= cached ? near : gigabytes;
    return std::min(gflops, bandwidth * cost.flops / cost.bytes);
  }
};

double cache_bandwidth() {
  WorkingSet memory(graph::isa(), 4 << 20);
  std::vector<double> passes;
  for (int pass = 0; pass < 100; ++pass) passes.push_back(memory.read());
  return median(passes);
}

void measure(benchmark::State& state, const OpCase& item, const Roof& roof) {
  const OpCall call(item);
  std::vector<double> times, peaks;
  double worked = 0;
  call.run();
  for (auto _ : state) {
    times.push_back(seconds_of([&] { call.run(); }));
    state.SetIterationTime(times.back());
    worked += times.back();
    if (!peaks.empty() && worked < 20e-3) continue;
    peaks.push_back(fma_peak_now(graph::isa()));
    worked = 0;
  }
  const double gflops = call.cost().flops / median(times) * 1e-9;
  state.counters["us"] = median(times) * 1e6;
  state.counters["us_per_40"] = median(times) * 1e6 * 40 / static_cast<double>(item.images);
  state.counters["GFLOP/s"] = gflops;
  state.counters["of_peak_%"] = 100 * gflops / median(peaks);
  state.counters["of_roof_%"] = 100 * gflops / roof.over(call.cost());
}

int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const Roof roof{fma_peak_now(graph::isa()), memory_bandwidth(graph::isa()), cache_bandwidth()};
  std::printf("%s, one core's peak %.1f GFLOP/s, main memory %.1f GB/s, 4 MB of cache %.1f GB/s\n",
              std::string(to_string(graph::isa())).c_str(), roof.gflops, roof.gigabytes, roof.near);
  for (const OpCase& item : op_cases())
    benchmark::RegisterBenchmark(
        item.name.c_str(), [item, roof](benchmark::State& state) { measure(state, item, roof); })
        ->Unit(benchmark::kMicrosecond)
        ->UseManualTime();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace penstock::benchmarks

int main(int argc, char** argv) {
  return penstock::benchmarks::run(argc, argv);
}
