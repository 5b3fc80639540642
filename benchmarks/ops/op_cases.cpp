#include "benchmarks/ops/op_cases.hpp"

#include <array>
#include <cstdlib>
#include <utility>

#include "graph/ops/rules/lane_shape.hpp"

namespace penstock::benchmarks {
namespace {

using graph::Attributes;
using graph::TensorType;
using List = std::vector<std::int64_t>;

TensorType f32(Shape shape) {
  return {DType::f32, shape};
}

/// A Layer is one convolution of a network, with a pooling behind it if `pooled` is true.
struct Layer {
  std::string name;
  std::int64_t images, in_channels, size, out_channels, kernel;
  bool pooled;
};

void add_layer(const Layer& layer, std::vector<OpCase>& cases) {
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
  add("channel_sum_lanes", {lanes(y)}, {});
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

constexpr std::array<const char*, 3> passes{"forward", "weight gradient", "input gradient"};
using Passes = std::array<OpCase, passes.size()>;

/// Returns the share of a row's multiplications in which a tap meets a pixel, and not one of the
/// `taps` / 2 zeros on each side of the row.
double row_seen(std::int64_t taps, std::int64_t pixels) {
  std::int64_t seen = 0;
  for (std::int64_t tap = 0; tap < taps; ++tap) seen += pixels - std::abs(tap - taps / 2);
  return static_cast<double>(seen) / static_cast<double>(taps * pixels);
}

/// A WideLayer is a convolution that keeps the image's size.
struct WideLayer {
  std::int64_t in_channels, out_channels, kernel;
};

Passes wide_layer(const WideLayer& layer, std::int64_t size, std::int64_t n) {
  const auto [c, o, k] = layer;
  const TensorType x = f32({n, c, size, size}), y = f32({n, o, size, size}),
                   weight = f32({o, c, k, k}), bias = f32({o});
  const Attributes pad{{"padding", k / 2}};
  Attributes for_input = pad, for_weight = pad;
  for_input.set("input_size", List{size, size});
  for_weight.set("kernel", List{k, k});
  const std::string side = std::to_string(size),
                    name = side + "x" + side + " b=" + std::to_string(n);
  const double seen = row_seen(k, size) * row_seen(k, size);
  return {OpCase{name, "conv2d", {x, weight, bias}, n, pad, seen},
          OpCase{name, "conv2d_weight_gradient", {x, y}, n, for_weight, seen},
          OpCase{name, "conv2d_input_gradient", {y, weight}, n, for_input, seen}};
}

Passes dense(std::int64_t n, std::int64_t in, std::int64_t out) {
  const TensorType x = f32({n, in}), y = f32({n, out}), weight = f32({out, in}), bias = f32({out});
  const std::string name = "b=" + std::to_string(n);
  return {OpCase{name, "linear", {x, weight, bias}, n},
          OpCase{name, "linear_weight_gradient", {x, y}, n},
          OpCase{name, "linear_input_gradient", {y, weight}, n}};
}

void add_wide_goals(const WideLayer& layer, std::vector<OpGoal>& goals) {
  const auto [c, o, k] = layer;
  const std::string taps = std::to_string(k), name = "conv " + taps + "x" + taps + " " +
                                                     std::to_string(c) + "-" + std::to_string(o) +
                                                     ", ";
  std::array<OpGoal, passes.size()> of_passes;
  for (std::size_t pass = 0; pass < passes.size(); ++pass)
    of_passes[pass] = {.work = name + passes[pass], .percent = 70};
  for (const std::int64_t n : {4, 8, 16, 32})
    for (const std::int64_t size : {8, 16}) {
      const Passes cases = wide_layer(layer, size, n);
      for (std::size_t pass = 0; pass < passes.size(); ++pass)
        of_passes[pass].cases.push_back(cases[pass]);
    }
  goals.insert(goals.end(), of_passes.begin(), of_passes.end());
}

void add_dense_goals(std::int64_t n, std::vector<OpGoal>& goals) {
  const Passes cases = dense(n, 1024, 1024);
  // With few rows, computing takes less time than reading the weights, so that the roofline counts.
  const bool few = n < 32;
  for (std::size_t pass = 0; pass < passes.size(); ++pass)
    goals.push_back({.work = std::string("dense 1024-1024, ") + passes[pass],
                     .percent = few ? 80.0 : 70.0,
                     .of_roof = few,
                     .cases = {cases[pass]}});
}

void add(const std::string& work, OpCase item, std::vector<OpCase>& cases) {
  item.name = work + " " + item.name;
  cases.push_back(std::move(item));
}

void add_dense(std::int64_t n, std::int64_t in, std::int64_t out, std::vector<OpCase>& cases) {
  const Passes of_passes = dense(n, in, out);
  for (std::size_t pass = 0; pass < passes.size(); ++pass)
    add("dense " + std::to_string(in) + "-" + std::to_string(out) + ", " + passes[pass],
        of_passes[pass], cases);
}

}  // namespace

std::vector<OpGoal> op_goals() {
  std::vector<OpGoal> goals;
  for (const WideLayer& layer :
       {WideLayer{64, 64, 3}, WideLayer{256, 256, 3}, WideLayer{256, 64, 1}})
    add_wide_goals(layer, goals);
  for (const std::int64_t n : {8, 16, 32, 64}) add_dense_goals(n, goals);
  return goals;
}

std::vector<OpCase> op_cases() {
  std::vector<OpCase> cases;
  for (const Layer& layer : {Layer{"mnist conv1, 40", 40, 1, 28, 10, 5, true},
                             Layer{"mnist conv1, 64", 64, 1, 28, 10, 5, true},
                             Layer{"mnist conv2, 40", 40, 10, 12, 20, 5, true},
                             Layer{"mnist conv2, 64", 64, 10, 12, 20, 5, true},
                             Layer{"fashion conv1, 16", 16, 1, 28, 5, 3, true},
                             Layer{"fashion conv2, 16", 16, 5, 13, 12, 5, false}})
    add_layer(layer, cases);
  for (const OpGoal& goal : op_goals())
    for (const OpCase& item : goal.cases) add(goal.work, item, cases);
  constexpr std::int64_t mlp[] = {784, 256, 128, 64, 32, 10};
  for (std::size_t i = 0; i + 1 < std::size(mlp); ++i) add_dense(32, mlp[i], mlp[i + 1], cases);
  add_dense(40, 320, 50, cases);
  add_dense(40, 50, 10, cases);
  return cases;
}

}  // namespace penstock::benchmarks
