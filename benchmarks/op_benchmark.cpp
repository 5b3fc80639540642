// Speed of single ops on one core, the layouts side by side: the best time of many, scaled to 40
// images, the percentage of the floating-point peak measured in the same run, and that of the
// roofline, where the op's operands would be read and written at the bandwidth measured. Cores
// clock down under vector work that reads memory: of_beside_% is the share of a peak that is
// measured by turns with the op. Pin it: taskset -c 1 op_benchmark [--benchmark_filter=...]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/fma_peak.hpp"
#include "benchmarks/measure.hpp"
#include "benchmarks/memory_bandwidth.hpp"
#include "benchmarks/op_cases.hpp"
#include "engine/values/memory.hpp"
#include "graph/kernels/isa.hpp"
#include "graph/op.hpp"

namespace penstock::benchmarks {
namespace {

using graph::Attributes;
using graph::TensorType;

/// A call of an op, with memory of its own.
class Call {
 public:
  explicit Call(const OpCase& item)
      : op_(graph::find_op(item.op)),
        attributes_(item.attributes),
        in_types_(item.inputs),
        out_types_(op_.infer(attributes_, in_types_)) {
    for (const TensorType& type : in_types_) inputs_.push_back(operand(type));
    for (const TensorType& type : out_types_) outputs_.push_back(operand(type));
    if (op_.workspace) workspace_ = memory(op_.workspace(attributes_, in_types_, out_types_));
    for (const graph::Operand& input : inputs_) draw(input);
  }

  void run() const { op_.forward({attributes_, inputs_, outputs_, workspace_, {}}); }
  graph::Cost cost() const { return op_.cost(attributes_, in_types_, out_types_); }

 private:
  std::span<std::byte> memory(std::int64_t bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    blocks_.push_back(allocate_block(size));
    return {blocks_.back().get(), size};
  }
  graph::Operand operand(const TensorType& type) { return {&type, memory(type.bytes()).data()}; }
  /// From 0, 1, 2 and 3, which serve as the winners of a pooling too.
  static void draw(const graph::Operand& input) {
    std::uint32_t state = 1;
    for (float& value : input.f32())
      value = static_cast<float>((state = state * 1664525 + 1013904223) >> 30);
  }

  const graph::Op& op_;
  Attributes attributes_;
  std::vector<TensorType> in_types_, out_types_;
  std::vector<graph::Operand> inputs_, outputs_;
  std::span<std::byte> workspace_ = {};
  std::vector<std::shared_ptr<std::byte>> blocks_;
};

/// What one core can do at most.
struct Roof {
  double gflops;     ///< GFLOP/s
  double gigabytes;  ///< GB/s of main memory
  double near;       ///< GB/s of 4 MB that are read again and again

  /// GFLOP/s of work of that cost; its operands come from caches if they are small enough.
  double over(const graph::Cost& cost) const {
    constexpr double cached = 8 << 20;
    const double bandwidth = cost.bytes <= cached ? near : gigabytes;
    return std::min(gflops, bandwidth * cost.flops / cost.bytes);
  }
};

void measure(benchmark::State& state, const OpCase& item, const Roof& roof) {
  const Call call(item);
  double best = std::numeric_limits<double>::infinity(), beside = 0, worked = 0;
  for (auto _ : state) {
    const double seconds = seconds_of([&] { call.run(); });
    state.SetIterationTime(seconds);
    best = std::min(best, seconds);
    worked += seconds;
    if (worked < 1e-3) continue;
    beside = std::max(beside, fma_burst(graph::isa()));
    worked = 0;
  }
  const double gflops = call.cost().flops / best * 1e-9;
  state.counters["us"] = best * 1e6;
  state.counters["us_per_40"] = best * 1e6 * 40 / static_cast<double>(item.images);
  state.counters["GFLOP/s"] = gflops;
  state.counters["of_peak_%"] = 100 * gflops / roof.gflops;
  state.counters["of_beside_%"] = 100 * gflops / beside;
  state.counters["of_roof_%"] = 100 * gflops / roof.over(call.cost());
}

int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const Roof roof{fma_peak(graph::isa()), memory_bandwidth(), cache_bandwidth(4 << 20)};
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
