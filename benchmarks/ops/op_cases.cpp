#include "benchmarks/ops/op_cases.hpp"

#include <array>
#include <utility>

#include "benchmarks/ops/convolution_passes.hpp"
#include "graph/ops/rules/lane_shape.hpp"

namespace penstock::benchmarks {
namespace {

using graph::Attributes;
using graph::TensorType;
using List = std::vector<std::int64_t>;

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
  // Clang 14 does not capture structured bindings.
  const auto add = [&, layer_name = name, samples = n](
                       const std::string& op, std::vector<TensorType> in, Attributes attributes) {
    cases.push_back({layer_name + "/" + op, op, std::move(in), samples, std::move(attributes)});
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

Passes dense(std::int64_t n, std::int64_t in, std::int64_t out) {
  const TensorType x = f32({n, in}), y = f32({n, out}), weight = f32({out, in}), bias = f32({out});
  const std::string name = "b=" + std::to_string(n);
  return {OpCase{name, "linear", {x, weight, bias}, n},
          OpCase{name, "linear_weight_gradient", {x, y}, n},
          OpCase{name, "linear_input_gradient", {y, weight}, n}};
}

/// Adds the goals for the passes of `layer`, whose images are of several sizes and numbers. The
/// forward pass adds a bias.
void add_wide_goals(Convolution layer, std::vector<OpGoal>& goals) {
  const std::string taps = std::to_string(layer.kernel),
                    name = "conv " + taps + "x" + taps + " " + std::to_string(layer.in_channels) +
                           "-" + std::to_string(layer.out_channels) + ", ";
  std::array<OpGoal, passes.size()> of_passes;
  for (std::size_t pass = 0; pass < passes.size(); ++pass)
    of_passes[pass] = {.work = name + passes[pass], .percent = 70};
  for (const std::int64_t n : {4, 8, 16, 32})
    for (const std::int64_t size : {8, 16}) {
      layer.images = n;
      layer.size = size;
      Passes cases = convolution_passes(layer);
      cases.front().inputs.push_back(f32({layer.out_channels}));
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
  for (const Convolution& layer :
       {Convolution{64, 64, 3}, Convolution{256, 256, 3}, Convolution{256, 64, 1}})
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
