#include "benchmarks/pytorch/torch_networks.hpp"

#include <cmath>
#include <limits>

namespace penstock::benchmarks {
namespace {

using torch::Tensor;

Tensor conv(const Tensor& x, const TorchWeights& weights, const std::string& name) {
  return torch::conv2d(x, weights.at(name + ".weight"), weights.at(name + ".bias"));
}

Tensor linear(const Tensor& x, const TorchWeights& weights, const std::string& name) {
  return torch::linear(x, weights.at(name + ".weight"), weights.at(name + ".bias"));
}

Tensor mnist_cnn(Tensor x, const TorchWeights& weights) {
  for (const char* name : {"layer1.conv", "layer2.conv"})
    x = torch::relu(torch::max_pool2d(conv(x, weights, name), 2));
  x = torch::relu(linear(x.flatten(1), weights, "layer3"));
  return linear(x, weights, "layer4");
}

Tensor fashion_cnn(Tensor x, const TorchWeights& weights) {
  x = torch::max_pool2d(torch::relu(conv(x, weights, "conv1")), 2);
  x = torch::relu(conv(x, weights, "conv2"));
  x = torch::group_norm(x, 3, weights.at("norm.weight"), weights.at("norm.bias"));
  x = torch::relu(linear(x.flatten(1), weights, "fc1"));
  return linear(x, weights, "fc2");
}

Tensor mlp(Tensor x, const TorchWeights& weights) {
  x = x.flatten(1);
  for (const char* name : {"dense256", "dense128", "dense64", "dense32"})
    x = torch::relu(linear(x, weights, name));
  return linear(x, weights, "logits");
}

/// Returns the batch norm called `name`, which updates its running statistics in training.
Tensor batch_norm(const Tensor& x, const TorchWeights& weights, const std::string& name) {
  const bool training = torch::GradMode::is_enabled();
  return torch::batch_norm(x, weights.at(name + ".weight"), weights.at(name + ".bias"),
                           weights.at(name + ".running_mean"), weights.at(name + ".running_var"),
                           training, 0.1, 1e-5, false);
}

Tensor normed(const Tensor& x, const TorchWeights& weights, const std::string& name) {
  return torch::relu(batch_norm(x, weights, name));
}

Tensor keywords(Tensor x, const TorchWeights& weights) {
  x = torch::conv2d(x, weights.at("first.weight"), {}, 2, {5, 1});
  x = normed(x, weights, "first.norm");
  for (const std::string block : {"b1", "b2", "b3", "b4"}) {
    const Tensor& each = weights.at(block + ".each.weight");
    x = normed(torch::conv2d(x, each, {}, 1, 1, 1, each.size(0)), weights, block + ".each.norm");
    x = normed(torch::conv2d(x, weights.at(block + ".mixed.weight")), weights,
               block + ".mixed.norm");
  }
  return linear(x.mean({2, 3}), weights, "out");
}

/// A ConvNorm is a convolution called `convolution`, without bias, and the batch norm `norm` of its
/// result.
struct ConvNorm {
  std::string convolution, norm;
  std::int64_t stride = 1;
  bool depthwise = false;
};

Tensor conv_norm(const Tensor& x, const TorchWeights& weights, const ConvNorm& layer) {
  const Tensor& weight = weights.at(layer.convolution + ".weight");
  const std::int64_t padding = weight.size(2) / 2, groups = layer.depthwise ? weight.size(0) : 1;
  return batch_norm(torch::conv2d(x, weight, {}, layer.stride, padding, 1, groups), weights,
                    layer.norm);
}

// As in torchvision, the results of these activations are written over their arguments.
Tensor relu_of(Tensor x) {
  return torch::relu_(x);
}
Tensor relu6_of(Tensor x) {
  return torch::relu6_(x);
}

/// Returns what torchvision's residual blocks compute, with two convolutions or three.
Tensor residual(const Tensor& x, const TorchWeights& weights, const std::string& name,
                std::int64_t stride) {
  const bool bottleneck = weights.contains(name + ".conv3.weight");
  const int layers = bottleneck ? 3 : 2, strided = bottleneck ? 2 : 1;
  Tensor y = x;
  for (int i = 1; i <= layers; ++i) {
    const std::string number = std::to_string(i);
    y = conv_norm(y, weights,
                  {name + ".conv" + number, name + ".bn" + number, i == strided ? stride : 1});
    if (i < layers) y = relu_of(y);
  }
  const std::string downsample = name + ".downsample.";
  if (!weights.contains(downsample + "0.weight")) return relu_of(y.add_(x));
  return relu_of(y.add_(conv_norm(x, weights, {downsample + "0", downsample + "1", stride})));
}

Tensor resnet(Tensor x, const TorchWeights& weights) {
  x = relu_of(conv_norm(x, weights, {"conv1", "bn1", 2}));
  x = torch::max_pool2d(x, 3, 2, 1);
  for (int group = 1; group <= 4; ++group)
    for (int i = 0;; ++i) {
      const std::string name = "layer" + std::to_string(group) + "." + std::to_string(i);
      if (!weights.contains(name + ".conv1.weight")) break;
      x = residual(x, weights, name, i == 0 && group > 1 ? 2 : 1);
    }
  return linear(x.mean({2, 3}), weights, "fc");
}

/// Returns torchvision's inverted residual: a convolution that makes more channels, unless it is
/// the first block, a depthwise one, and one that makes fewer channels.
Tensor inverted_residual(const Tensor& x, const TorchWeights& weights, const std::string& name,
                         std::int64_t stride) {
  const auto layer = [&](int i) { return name + ".conv." + std::to_string(i); };
  const bool expands = weights.contains(layer(1) + ".1.weight");
  Tensor y = x;
  if (expands) y = relu6_of(conv_norm(y, weights, {layer(0) + ".0", layer(0) + ".1"}));
  const std::string each = layer(expands ? 1 : 0);
  y = relu6_of(conv_norm(y, weights, {each + ".0", each + ".1", stride, true}));
  y = conv_norm(y, weights, {layer(expands ? 2 : 1), layer(expands ? 3 : 2)});
  return stride == 1 && x.sizes() == y.sizes() ? x + y : y;
}

/// Returns MobileNet-v2 without its dropout.
Tensor mobilenet_v2(Tensor x, const TorchWeights& weights) {
  x = relu6_of(conv_norm(x, weights, {"features.0.0", "features.0.1", 2}));
  for (int i = 1; i <= 17; ++i) {
    const bool halves = i == 2 || i == 4 || i == 7 || i == 14;
    x = inverted_residual(x, weights, "features." + std::to_string(i), halves ? 2 : 1);
  }
  x = relu6_of(conv_norm(x, weights, {"features.18.0", "features.18.1"}));
  return linear(x.mean({2, 3}), weights, "classifier.1");
}

Tensor layer_norm(const Tensor& x, const TorchWeights& weights, const std::string& name) {
  return torch::layer_norm(x, {x.size(-1)}, weights.at(name + ".weight"));
}

constexpr std::int64_t heads = 4;
const std::vector<std::string> blocks{"h.0", "h.1", "h.2", "h.3"};

/// Returns the attention of nanoGPT.
Tensor attention(const Tensor& x, const TorchWeights& weights, const std::string& name) {
  const std::int64_t n = x.size(0), steps = x.size(1), width = x.size(2);
  const auto qkv = torch::linear(x, weights.at(name + ".qkv.weight")).split(width, 2);
  const auto of_heads = [&](const Tensor& part) {
    return part.view({n, steps, heads, width / heads}).transpose(1, 2);
  };
  const Tensor q = of_heads(qkv[0]), k = of_heads(qkv[1]), v = of_heads(qkv[2]);
  const Tensor hidden = torch::ones({steps, steps}, torch::kBool).triu(1);
  const Tensor scores =
      q.matmul(k.transpose(-2, -1)) / std::sqrt(static_cast<double>(width / heads));
  const Tensor shares =
      scores.masked_fill(hidden, -std::numeric_limits<float>::infinity()).softmax(-1);
  return torch::linear(shares.matmul(v).transpose(1, 2).reshape({n, steps, width}),
                       weights.at(name + ".proj.weight"));
}

Tensor perceptron(const Tensor& x, const TorchWeights& weights, const std::string& name) {
  const Tensor hidden = torch::gelu(torch::linear(x, weights.at(name + ".fc.weight")));
  return torch::linear(hidden, weights.at(name + ".proj.weight"));
}

Tensor gpt(Tensor tokens, const TorchWeights& weights) {
  Tensor x = torch::embedding(weights.at("wte.weight"), tokens) + weights.at("wpe.weight");
  for (const std::string& block : blocks) {
    x = x + attention(layer_norm(x, weights, block + ".ln_1"), weights, block + ".attn");
    x = x + perceptron(layer_norm(x, weights, block + ".ln_2"), weights, block + ".mlp");
  }
  return torch::linear(layer_norm(x, weights, "ln_f"), weights.at("wte.weight"));
}

Tensor lstm(Tensor x, const TorchWeights& weights) {
  std::vector<Tensor> parameters;
  for (const char* layer : {"_l0", "_l1"})
    for (const char* name : {"lstm.weight_ih", "lstm.weight_hh", "lstm.bias_ih", "lstm.bias_hh"})
      parameters.push_back(weights.at(std::string(name) + layer));
  const Tensor zeros = torch::zeros({2, x.size(0), parameters[1].size(1)});
  const auto [output, hidden, cell] =
      torch::lstm(x, {zeros, zeros}, parameters, true, 2, 0.0, true, false, true);
  return linear(hidden[1], weights, "head");
}

}  // namespace

TorchDecoder::TorchDecoder(const TorchWeights& weights) : weights_(weights) {
  const Tensor& positions = weights.at("wpe.weight");
  for (std::size_t block = 0; block < blocks.size(); ++block)
    for (auto* cache : {&keys_, &values_})
      cache->push_back(torch::zeros({heads, positions.size(0), positions.size(1) / heads}));
}

Tensor TorchDecoder::attention(std::size_t block, const Tensor& x, std::int64_t position) {
  const std::string name = blocks[block] + ".attn";
  const std::int64_t width = x.size(2), of_head = width / heads;
  const Tensor qkv =
      torch::linear(x, weights_.at(name + ".qkv.weight")).view({3, heads, 1, of_head});
  keys_[block].narrow(1, position, 1).copy_(qkv[1]);
  values_[block].narrow(1, position, 1).copy_(qkv[2]);
  const Tensor keys = keys_[block].narrow(1, 0, position + 1);
  const Tensor scores =
      qkv[0].matmul(keys.transpose(1, 2)) / std::sqrt(static_cast<double>(of_head));
  const Tensor mixed = scores.softmax(-1).matmul(values_[block].narrow(1, 0, position + 1));
  return torch::linear(mixed.view({1, 1, width}), weights_.at(name + ".proj.weight"));
}

Tensor TorchDecoder::next(const Tensor& token, std::int64_t position) {
  Tensor x =
      torch::embedding(weights_.at("wte.weight"), token) + weights_.at("wpe.weight")[position];
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    x = x + attention(i, layer_norm(x, weights_, blocks[i] + ".ln_1"), position);
    x = x + perceptron(layer_norm(x, weights_, blocks[i] + ".ln_2"), weights_, blocks[i] + ".mlp");
  }
  return torch::linear(layer_norm(x, weights_, "ln_f"), weights_.at("wte.weight"));
}

TorchNetwork find_torch_network(const std::string& name) {
  static const std::map<std::string, TorchNetwork> networks{{"mnist-cnn", mnist_cnn},
                                                            {"fashion-cnn", fashion_cnn},
                                                            {"mlp", mlp},
                                                            {"keywords", keywords},
                                                            {"resnet18", resnet},
                                                            {"resnet50", resnet},
                                                            {"mobilenet-v2", mobilenet_v2},
                                                            {"gpt", gpt},
                                                            {"lstm", lstm}};
  return networks.at(name);
}

}  // namespace penstock::benchmarks
