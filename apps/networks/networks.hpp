// The networks that trainer, tests and benchmarks share, by name. To add one: write its file pair,
// include it in networks.cpp, add it to the list.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "penstock/dataset.hpp"
#include "penstock/model.hpp"

namespace penstock::networks {

/// A classifier of images [channels,size,size] in ten classes, in blocks B1 to B4. Inputs "image"
/// and "labels", output "logits" [N,10], a loss.
struct Network {
  std::string_view name;
  std::int64_t channels = 1;
  std::int64_t size = 28;
  Normalization normalization = {};  ///< of the pixels it is trained on
  Model (*build)(std::uint64_t seed) = nullptr;
};

/// The network of that name. @throws Error invalid_argument if there is none; lists the names.
const Network& find_network(std::string_view name);
/// Every network, by name.
std::span<const Network* const> all_networks();

}  // namespace penstock::networks
