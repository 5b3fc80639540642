#include "benchmarks/op_cases.hpp"

#include <utility>

#include "graph/lane_shape.hpp"

namespace penstock::benchmarks {
namespace {

using graph::Attributes;
using graph::TensorType;
using List = std::vector<std::int64_t>;

TensorType f32(Shape shape) {
  return {DType::f32, shape};
}

/// One convolution of a network: its ops and its pooling's.
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

/// A convolution that keeps the image's size.
struct WideLayer {
  std::int64_t in_channels, out_channels, kernel, size;
};

void add_wide_layer(const WideLayer& layer, std::int64_t n, std::vector<OpCase>& cases) {
  const auto [c, o, k, size] = layer;
  const TensorType x = f32({n, c, size, size}), y = f32({n, o, size, size}),
                   weight = f32({o, c, k, k}), bias = f32({o});
  const Attributes pad{{"padding", k / 2}};
  Attributes for_input = pad, for_weight = pad;
  for_input.set("input_size", List{size, size});
  for_weight.set("kernel", List{k, k});
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  const std::string name = "wide " + text(c) + "-" + text(o) + " k" + text(k) + " " + text(size) +
                           "x" + text(size) + ", " + text(n) + "/";
  cases.push_back({name + "conv2d", "conv2d", {x, weight, bias}, n, pad});
  cases.push_back({name + "weight_gradient", "conv2d_weight_gradient", {x, y}, n, for_weight});
  cases.push_back({name + "input_gradient", "conv2d_input_gradient", {y, weight}, n, for_input});
}

void add_dense(std::int64_t n, std::int64_t in, std::int64_t out, std::vector<OpCase>& cases) {
  const TensorType x = f32({n, in}), y = f32({n, out}), weight = f32({out, in}), bias = f32({out});
  const std::string name =
      "dense " + std::to_string(in) + "-" + std::to_string(out) + ", " + std::to_string(n) + "/";
  cases.push_back({name + "linear", "linear", {x, weight, bias}, n});
  cases.push_back({name + "weight_gradient", "linear_weight_gradient", {x, y}, n});
  cases.push_back({name + "input_gradient", "linear_input_gradient", {y, weight}, n});
}

}  // namespace

std::vector<OpCase> op_cases() {
  std::vector<OpCase> cases;
  for (const Layer& layer : {Layer{"mnist conv1, 40", 40, 1, 28, 10, 5, true},
                             Layer{"mnist conv1, 64", 64, 1, 28, 10, 5, true},
                             Layer{"mnist conv2, 40", 40, 10, 12, 20, 5, true},
                             Layer{"mnist conv2, 64", 64, 10, 12, 20, 5, true},
                             Layer{"fashion conv1, 16", 16, 1, 28, 5, 3, true},
                             Layer{"fashion conv2, 16", 16, 5, 13, 12, 5, false}})
    add_layer(layer, cases);
  for (const std::int64_t n : {4, 8, 16, 32})
    for (const WideLayer& layer :
         {WideLayer{64, 64, 3, 8}, WideLayer{64, 64, 3, 16}, WideLayer{256, 256, 3, 8},
          WideLayer{256, 256, 3, 16}, WideLayer{256, 64, 1, 8}, WideLayer{256, 64, 1, 16}})
      add_wide_layer(layer, n, cases);
  for (const std::int64_t n : {8, 16, 32, 64}) add_dense(n, 1024, 1024, cases);
  constexpr std::int64_t mlp[] = {784, 256, 128, 64, 32, 10};
  for (std::size_t i = 0; i + 1 < std::size(mlp); ++i) add_dense(32, mlp[i], mlp[i + 1], cases);
  add_dense(40, 320, 50, cases);
  add_dense(40, 50, 10, cases);
  return cases;
}

}  // namespace penstock::benchmarks
