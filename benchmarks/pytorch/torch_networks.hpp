// These are the networks of the contests, written with PyTorch's functions. The weights have the
// same names in both.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace penstock::benchmarks {

using TorchWeights = std::map<std::string, torch::Tensor>;
/// A TorchNetwork computes logits [N,...,classes] from its input.
using TorchNetwork = torch::Tensor (*)(torch::Tensor input, const TorchWeights& weights);

/// A TorchDecoder is the network "gpt" in the form that reads a text token by token, and keeps the
/// keys and values of earlier tokens.
class TorchDecoder {
 public:
  explicit TorchDecoder(const TorchWeights& weights);
  /// Returns the logits [1,1,classes] behind the token `token`, i64 [1,1], which is number
  /// `position` of its text.
  torch::Tensor next(const torch::Tensor& token, std::int64_t position);

 private:
  torch::Tensor attention(std::size_t block, const torch::Tensor& x, std::int64_t position);

  const TorchWeights& weights_;
  std::vector<torch::Tensor> keys_, values_;
};

/// Returns the network called `name`. @throws std::out_of_range if there is no such network.
TorchNetwork find_torch_network(const std::string& name);

}  // namespace penstock::benchmarks
