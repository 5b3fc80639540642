// Speed of single ops on one core, the layouts side by side: the best time of many, scaled to 40
// images, and the percentage of the floating-point peak measured in the same run. Pin it:
// taskset -c 1 op_benchmark [--benchmark_filter=...]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/fma_peak.hpp"
#include "engine/values/memory.hpp"
#include "graph/kernels/isa.hpp"
#include "graph/lane_shape.hpp"
#include "graph/op.hpp"

namespace penstock::benchmarks {
namespace {

using graph::Attributes;
using graph::TensorType;
using Clock = std::chrono::steady_clock;
using List = std::vector<std::int64_t>;

struct Case {
  std::string name;
  std::string op;
  std::vector<TensorType> inputs;
  std::int64_t images;
  Attributes attributes = {};
};

/// A call of an op, with memory of its own.
class Call {
 public:
  explicit Call(const Case& item)
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
  double flops() const { return op_.cost(attributes_, in_types_, out_types_).flops; }

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

/// One convolution of a network: its ops and its pooling's, in both layouts.
struct Layer {
  std::string name;
  std::int64_t images, in_channels, size, out_channels, kernel;
  bool pooled;
};

TensorType f32(Shape shape) {
  return {DType::f32, shape};
}

void add_cases(const Layer& layer, std::vector<Case>& cases) {
  const auto [name, n, c, size, o, k, pooled] = layer;
  const std::int64_t out = size - k + 1, half = out / 2;
  const TensorType x = f32({n, c, size, size}), y = f32({n, o, out, out}),
                   weight = f32({o, c, k, k}), bias = f32({o}), small = f32({n, o, half, half});
  const auto lanes = [](const TensorType& type) { return f32(graph::lane_shape(type.shape)); };
  const List image{size, size}, square{k, k}, before_pool{out, out};
  const auto add = [&](const std::string& op, std::vector<TensorType> in, Attributes attributes) {
    cases.push_back({name + "/" + op, op, std::move(in), n, std::move(attributes)});
  };
  add("conv2d", {x, weight, bias}, {});
  add("conv2d_lanes", {lanes(x), weight, bias}, {{"batch", n}});
  add("conv2d_weight_gradient", {x, y}, {{"kernel", square}});
  add("conv2d_lanes_weight_gradient", {lanes(x), lanes(y)}, {{"batch", n}});
  add("conv2d_input_gradient", {y, weight}, {{"input_size", image}});
  add("conv2d_lanes_input_gradient", {lanes(y), weight}, {{"batch", n}});
  add("channel_sum", {y}, {});
  cases.push_back({name + "/channel_sum of lanes", "channel_sum", {lanes(y)}, n});
  add("to_lanes", {x}, {});
  add("from_lanes", {lanes(x)}, {{"batch", n}});
  if (!pooled) return;
  const Attributes pool{{"kernel", 2}}, back{{"kernel", 2}, {"input_size", before_pool}};
  const TensorType winners = f32(lanes(small).shape.with(-1, 4));
  add("conv2d_pool_relu_lanes", {lanes(x), weight, bias}, {{"batch", n}});
  add("conv2d_pool_relu_lanes_weight_gradient", {lanes(x), winners, lanes(small)},
      {{"batch", n}, {"kernel", square}});
  add("conv2d_pool_relu_lanes_input_gradient", {winners, lanes(small), weight},
      {{"batch", n}, {"input_size", image}});
  add("max_pool2d", {y}, pool);
  add("max_pool2d_lanes", {lanes(y)}, pool);
  add("max_pool2d_gradient", {small, small}, back);
  add("max_pool2d_lanes_gradient", {winners, lanes(small)}, back);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Layer& layer : {Layer{"mnist conv1, 40", 40, 1, 28, 10, 5, true},
                             Layer{"mnist conv1, 64", 64, 1, 28, 10, 5, true},
                             Layer{"mnist conv2, 40", 40, 10, 12, 20, 5, true},
                             Layer{"mnist conv2, 64", 64, 10, 12, 20, 5, true},
                             Layer{"fashion conv1, 16", 16, 1, 28, 5, 3, true},
                             Layer{"fashion conv2, 16", 16, 5, 13, 12, 5, false}})
    add_cases(layer, cases);
  return cases;
}

void measure(benchmark::State& state, const Case& item, double peak) {
  const Call call(item);
  double best = std::numeric_limits<double>::infinity();
  for (auto _ : state) {
    const auto start = Clock::now();
    call.run();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  const double gflops = call.flops() / best * 1e-9;
  state.counters["us_per_40"] = best * 1e6 * 40 / static_cast<double>(item.images);
  state.counters["GFLOP/s"] = gflops;
  state.counters["of_peak_%"] = 100 * gflops / peak;
}

int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const double peak = fma_peak(graph::isa());
  std::printf("%s, one core's peak %.1f GFLOP/s\n", std::string(to_string(graph::isa())).c_str(),
              peak);
  for (const Case& item : all_cases())
    benchmark::RegisterBenchmark(item.name.c_str(), [item, peak](benchmark::State& state) {
      measure(state, item, peak);
    })->Unit(benchmark::kMicrosecond);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace penstock::benchmarks

int main(int argc, char** argv) {
  return penstock::benchmarks::run(argc, argv);
}
