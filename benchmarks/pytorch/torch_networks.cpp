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

/// Returns relu of the batch norm called `name`, which updates its running statistics in training.
Tensor normed(const Tensor& x, const TorchWeights& weights, const std::string& name) {
  const bool training = torch::GradMode::is_enabled();
  return torch::relu(torch::batch_norm(x, weights.at(name + ".weight"), weights.at(name + ".bias"),
                                       weights.at(name + ".running_mean"),
                                       weights.at(name + ".running_var"), training, 0.1, 1e-5,
                                       false));
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
                                                            {"gpt", gpt},
                                                            {"lstm", lstm}};
  return networks.at(name);
}

}  // namespace penstock::benchmarks
