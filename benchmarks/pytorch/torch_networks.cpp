#include "benchmarks/pytorch/torch_networks.hpp"

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

TorchNetwork find_torch_network(const std::string& name) {
  static const std::map<std::string, TorchNetwork> networks{
      {"mnist-cnn", mnist_cnn}, {"fashion-cnn", fashion_cnn}, {"mlp", mlp}, {"lstm", lstm}};
  return networks.at(name);
}

}  // namespace penstock::benchmarks
