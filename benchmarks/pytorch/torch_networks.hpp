// These are the shared networks in PyTorch's functions, over weights of the same names.
#pragma once

#include <torch/torch.h>

#include <map>
#include <string>

namespace penstock::benchmarks {

using TorchWeights = std::map<std::string, torch::Tensor>;
/// Images [N,1,28,28] -> logits [N,10].
using TorchNetwork = torch::Tensor (*)(torch::Tensor images, const TorchWeights& weights);

/// @throws std::out_of_range if there is none of that name.
TorchNetwork find_torch_network(const std::string& name);

}  // namespace penstock::benchmarks
