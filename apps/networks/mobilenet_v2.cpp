#include "apps/networks/mobilenet_v2.hpp"

#include <string>

#include "apps/networks/conv_norm.hpp"

namespace penstock::networks {
namespace {

/// A Group has `count` blocks of the same number of channels. The first of them has the stride.
struct Group {
  std::int64_t expansion, channels;
  int count;
  std::int64_t stride;
};

constexpr Group groups[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                            {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

/// Adds a convolution, which is called "NAME.0", a batch norm "NAME.1" and a ReLU6.
Value conv_norm_relu6(Model& model, const std::string& name, Value x,
                      const Conv2dOptions& options) {
  return model.relu6(conv_norm(model, name + ".0", name + ".1", x, options));
}

/// Adds a block: the channels grow by the factor `group.expansion`, each of them is convolved by
/// itself, and then they become `group.channels`. The input is added if it has the same shape.
Value inverted_residual(Model& model, const std::string& name, Value x, const Group& group,
                        std::int64_t stride) {
  const std::int64_t hidden = group.expansion * model.shape(x)[1];
  int layer = 0;
  const auto next = [&] { return name + ".conv." + std::to_string(layer++); };
  Value y = x;
  if (group.expansion > 1)
    y = conv_norm_relu6(model, next(), y, {.out_channels = hidden, .kernel = 1});
  y = conv_norm_relu6(
      model, next(), y,
      {.out_channels = hidden, .kernel = 3, .stride = stride, .padding = 1, .groups = hidden});
  const std::string convolution = next(), norm = next();
  y = conv_norm(model, convolution, norm, y, {.out_channels = group.channels, .kernel = 1});
  const bool keeps_shape = stride == 1 && model.shape(x) == model.shape(y);
  return keeps_shape ? model.add(x, y) : y;
}

Value layers(Model& model, Value x, std::int64_t classes) {
  constexpr double dropout = 0.2;
  return mobilenet_v2_layers(model, x, classes, dropout);
}

constexpr BlockStart blocks[] = {
    {"features.0", "B1"}, {"features.4", "B2"}, {"features.8", "B3"}, {"features.14", "B4"}};

}  // namespace

Value mobilenet_v2_layers(Model& model, Value x, std::int64_t classes, double dropout) {
  constexpr std::int64_t first_channels = 32, last_channels = 1280;
  int feature = 0;
  const auto next = [&] { return "features." + std::to_string(feature++); };
  x = conv_norm_relu6(model, next(), x,
                      {.out_channels = first_channels, .kernel = 3, .stride = 2, .padding = 1});
  for (const Group& group : groups)
    for (int i = 0; i < group.count; ++i)
      x = inverted_residual(model, next(), x, group, i == 0 ? group.stride : 1);
  x = conv_norm_relu6(model, next(), x, {.out_channels = last_channels, .kernel = 1});
  x = model.dropout("classifier.0", model.flatten(model.global_avg_pool2d(x)), dropout);
  x = model.linear("classifier.1", x, classes);
  model.initialize("classifier.1.weight", Initializer::normal(0, 0.01));
  model.initialize("classifier.1.bias", Initializer::constant(0));
  return x;
}

const Network mobilenet_v2{.name = "mobilenet-v2",
                           .images = cifar10_images,
                           .takes_all_images = true,
                           .normalization = cifar10_pixels,
                           .layers = layers,
                           .blocks = blocks};

}  // namespace penstock::networks
