#include "apps/networks/resnet.hpp"

#include <span>
#include <string>

#include "apps/networks/conv_norm.hpp"

namespace penstock::networks {
namespace {

/// A Residual adds convolutions whose result is added to their input: layers called `name`, of
/// `channels` channels, the first image of which is `stride` times as large as the others.
using Residual = Value (*)(Model& model, const std::string& name, Value x, std::int64_t channels,
                           std::int64_t stride);

/// Returns `x`, or what a convolution makes of it if it does not have the shape of `y`.
Value shortcut(Model& model, const std::string& name, Value x, Value y, std::int64_t stride) {
  if (model.shape(x) == model.shape(y)) return x;
  const std::string downsample = name + ".downsample";
  return conv_norm(model, downsample + ".0", downsample + ".1", x,
                   {.out_channels = model.shape(y)[1], .kernel = 1, .stride = stride});
}

Value basic(Model& model, const std::string& name, Value x, std::int64_t channels,
            std::int64_t stride) {
  Value y = conv_norm(model, name + ".conv1", name + ".bn1", x,
                      {.out_channels = channels, .kernel = 3, .stride = stride, .padding = 1});
  y = conv_norm(model, name + ".conv2", name + ".bn2", model.relu(y),
                {.out_channels = channels, .kernel = 3, .padding = 1});
  return model.relu(model.add(y, shortcut(model, name, x, y, stride)));
}

/// The convolution in the middle has the stride, as in torchvision; the paper has it in the first
/// one.
Value bottleneck(Model& model, const std::string& name, Value x, std::int64_t channels,
                 std::int64_t stride) {
  constexpr std::int64_t expansion = 4;
  Value y =
      conv_norm(model, name + ".conv1", name + ".bn1", x, {.out_channels = channels, .kernel = 1});
  y = conv_norm(model, name + ".conv2", name + ".bn2", model.relu(y),
                {.out_channels = channels, .kernel = 3, .stride = stride, .padding = 1});
  y = conv_norm(model, name + ".conv3", name + ".bn3", model.relu(y),
                {.out_channels = expansion * channels, .kernel = 1});
  return model.relu(model.add(y, shortcut(model, name, x, y, stride)));
}

/// Adds a network with four groups of `counts` residual blocks, called "layer1" to "layer4". The
/// channels double from group to group, and the height and the width of the images are halved.
Value layers(Model& model, Value x, std::int64_t classes, Residual residual,
             std::span<const int> counts) {
  std::int64_t channels = 64;
  x = conv_norm(model, "conv1", "bn1", x,
                {.out_channels = channels, .kernel = 7, .stride = 2, .padding = 3});
  x = model.max_pool2d(model.relu(x), {.kernel = 3, .stride = 2, .padding = 1});
  for (std::size_t group = 0; group < counts.size(); ++group, channels *= 2)
    for (int i = 0; i < counts[group]; ++i)
      x = residual(model, "layer" + std::to_string(group + 1) + '.' + std::to_string(i), x,
                   channels, i == 0 && group > 0 ? 2 : 1);
  return model.linear("fc", model.flatten(model.global_avg_pool2d(x)), classes);
}

Value layers18(Model& model, Value x, std::int64_t classes) {
  constexpr int counts[] = {2, 2, 2, 2};
  return layers(model, x, classes, basic, counts);
}

Value layers50(Model& model, Value x, std::int64_t classes) {
  constexpr int counts[] = {3, 4, 6, 3};
  return layers(model, x, classes, bottleneck, counts);
}

constexpr BlockStart blocks[] = {
    {"conv1", "B1"}, {"layer2", "B2"}, {"layer3", "B3"}, {"layer4", "B4"}};

}  // namespace

const Network resnet18{.name = "resnet18",
                       .images = cifar10_images,
                       .takes_all_images = true,
                       .normalization = cifar10_pixels,
                       .layers = layers18,
                       .blocks = blocks};
const Network resnet50{.name = "resnet50",
                       .images = cifar10_images,
                       .takes_all_images = true,
                       .normalization = cifar10_pixels,
                       .layers = layers50,
                       .blocks = blocks};

}  // namespace penstock::networks
