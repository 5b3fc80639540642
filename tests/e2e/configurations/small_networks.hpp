// These are the networks that the tests of configurations train: tiny ones of several kinds, and
// one that is larger, with data for them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "penstock/penstock.hpp"

namespace penstock::testing {

/// Marks are what a model itself says of how it is run.
struct Marks {
  std::uint32_t checkpoints = 0;  ///< Each bit says of one value whether it becomes a checkpoint.
  /// These are the IPUs of the blocks; -1 means that a block names no IPU.
  std::array<int, 4> ipus = {-1, -1, -1, -1};
};

struct SmallNetwork {
  std::string name;
  /// Builds blocks "A" to "D" with one output "out".
  std::function<Model(const Marks& marks)> build;
  /// Returns `count` samples as one tensor per input.
  std::function<std::vector<Tensor>(std::int64_t count)> samples;
  std::string layer;      ///< This is the name of a layer in the middle.
  std::string parameter;  ///< This is the name of a parameter.
  /// The compiler can cut the network into this many stages. It keeps layers that share a parameter
  /// in one stage.
  int automatic_stages;
};

/// numbers() returns floats, and integers() whole numbers from 0 to `limit` - 1. Both depend on
/// their arguments only.
Tensor numbers(const Shape& shape);
Tensor integers(const Shape& shape, std::int64_t limit);

std::span<const SmallNetwork> small_networks();

/// Returns a network whose kernels are shared by threads, and whose tensors are moved and updated
/// in several pieces.
const SmallNetwork& large_network();

}  // namespace penstock::testing
