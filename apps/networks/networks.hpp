// These are the networks that the trainer, the tests and the benchmarks share, by name. To add a
// network, write its source and header, include the header in networks.cpp and add the network to
// the list.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "penstock/dataset.hpp"
#include "penstock/model.hpp"

namespace penstock::networks {

/// A Network is a classifier of images [channels,size,size] in ten classes, in blocks B1 to B4. Its
/// inputs are "image" and "labels"; its outputs are "logits" [N,10] and a loss.
struct Network {
  std::string_view name;
  std::int64_t channels = 1;
  std::int64_t size = 28;
  /// `normalization` is for the pixels of the data for which the network is made.
  Normalization normalization = {};
  Model (*build)(std::uint64_t seed) = nullptr;
};

/// Returns the network called `name`. @throws Error invalid_argument, whose text lists the names of
/// all networks, if there is no such network.
const Network& find_network(std::string_view name);
/// Returns all networks, in the order of their names.
std::span<const Network* const> all_networks();

}  // namespace penstock::networks
