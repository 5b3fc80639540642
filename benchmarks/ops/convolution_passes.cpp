#include "benchmarks/ops/convolution_passes.hpp"

#include <utility>
#include <vector>

#include "graph/ops/list.hpp"
#include "graph/ops/rules/lane_shape.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock::benchmarks {
namespace {

using graph::Attributes;
using graph::TensorType;
using List = std::vector<std::int64_t>;

TensorType in_lanes(const TensorType& type) {
  return f32(graph::lane_shape(type.shape));
}

/// Tensors has the types of x, the weights and y in the layout [N,C,H,W].
struct Tensors {
  TensorType x, weight, y;
};

Tensors tensors_of(const Convolution& c) {
  return {.x = f32({c.images, c.in_channels, c.size, c.size}),
          .weight = f32({c.out_channels, c.in_channels / c.groups, c.kernel, c.kernel}),
          .y = f32({c.images, c.out_channels, c.out_size(), c.out_size()})};
}

Attributes attributes_of(const Convolution& c) {
  Attributes attributes{{"padding", c.padding()}};
  if (c.stride != 1) attributes.set("stride", c.stride);
  if (c.groups != 1) attributes.set("groups", c.groups);
  return attributes;
}

/// Returns the share of the multiplications along one axis in which a tap meets a pixel, and not
/// one of the zeros around the image.
double axis_seen(const Convolution& c) {
  const graph::Window2d window{.kernel = {c.kernel, c.kernel},
                               .stride = {c.stride, c.stride},
                               .padding = {c.padding(), c.padding()}};
  std::int64_t seen = 0;
  for (std::int64_t tap = 0; tap < c.kernel; ++tap) {
    const auto [begin, end] = graph::inside(window, 0, tap, c.size, c.out_size());
    seen += end - begin;
  }
  return static_cast<double>(seen) / static_cast<double>(c.kernel * c.out_size());
}

}  // namespace

std::string setting_of(const Convolution& c) {
  const std::string side = std::to_string(c.size);
  return side + "x" + side + " b=" + std::to_string(c.images);
}

Passes convolution_passes(const Convolution& convolution) {
  const auto [x, weight, y] = tensors_of(convolution);
  const Attributes attributes = attributes_of(convolution);
  Attributes for_input = attributes, for_weight = attributes;
  for_input.set("input_size", List{convolution.size, convolution.size});
  for_weight.set("kernel", List{convolution.kernel, convolution.kernel});
  const std::string name = setting_of(convolution);
  const std::int64_t n = convolution.images;
  const double seen = axis_seen(convolution) * axis_seen(convolution);
  return {OpCase{name, "conv2d", {x, weight}, n, attributes, seen},
          OpCase{name, "conv2d_weight_gradient", {x, y}, n, for_weight, seen},
          OpCase{name, "conv2d_input_gradient", {y, weight}, n, for_input, seen}};
}

std::optional<Passes> lane_passes(const Convolution& convolution) {
  const OpCase forward = case_of(convolution_passes(convolution), Pass::forward);
  const graph::Op& op = graph::find_op(forward.op);
  if (op.lane_use(forward.attributes, forward.inputs) == graph::LaneUse::never) return std::nullopt;
  const std::string lane_op(op.lane_form(forward.attributes, forward.inputs).name);
  Attributes attributes = attributes_of(convolution);
  attributes.set("batch", convolution.images);
  attributes.set("input_size", List{convolution.size, convolution.size});
  attributes.set("kernel", List{convolution.kernel, convolution.kernel});
  const auto pass = [&](const std::string& suffix, std::vector<TensorType> inputs) {
    const graph::Op& lanes = graph::find_op(lane_op + suffix);
    return OpCase{forward.name,
                  std::string(lanes.name),
                  std::move(inputs),
                  forward.images,
                  only_declared(lanes.attributes, attributes),
                  forward.seen};
  };
  const auto [x, weight, y] = tensors_of(convolution);
  return Passes{pass("", {in_lanes(x), weight}),
                pass("_weight_gradient", {in_lanes(x), in_lanes(y)}),
                pass("_input_gradient", {in_lanes(y), weight})};
}

}  // namespace penstock::benchmarks
