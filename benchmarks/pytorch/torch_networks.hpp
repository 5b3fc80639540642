// These are networks of apps/networks and benchmarks/runners, written with PyTorch's functions.
// The weights have the same names in both.
#pragma once

#include <torch/torch.h>

#include <map>
#include <string>

namespace penstock::benchmarks {

using TorchWeights = std::map<std::string, torch::Tensor>;
/// A TorchNetwork computes logits [N,10] from samples [N,...].
using TorchNetwork = torch::Tensor (*)(torch::Tensor samples, const TorchWeights& weights);

/// Returns the network called `name`. @throws std::out_of_range if there is no such network.
TorchNetwork find_torch_network(const std::string& name);

}  // namespace penstock::benchmarks
