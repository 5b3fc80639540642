// Tiny networks of several kinds, one that is larger, and data for them: what the property test
// over configurations trains.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "penstock/penstock.hpp"

namespace penstock::testing {

/// Has what a model says of how it is run.
struct Marks {
  std::uint32_t checkpoints = 0;  ///< Has bits that say which values are marked for recomputation.
  std::array<int, 4> ipus = {-1, -1, -1, -1};  ///< Are those of the blocks.
};

struct SmallNetwork {
  std::string name;
  /// Builds blocks "A" to "D" with one output "out".
  std::function<Model(const Marks& marks)> build;
  /// Returns one tensor per input, of `count` samples.
  std::function<std::vector<Tensor>(std::int64_t count)> samples;
  std::string layer;      ///< Is the name of a layer within.
  std::string parameter;  ///< Is the name of a parameter.
  /// Counts the stages into which the compiler can cut it; it leaves together what shares a
  /// parameter.
  int automatic_stages;
};

/// Returns floats and whole numbers below `limit`, which are the same for the same shape.
Tensor numbers(const Shape& shape);
Tensor integers(const Shape& shape, std::int64_t limit);

std::span<const SmallNetwork> small_networks();

/// One whose kernels threads share, and whose tensors are moved and updated in several pieces.
const SmallNetwork& large_network();

}  // namespace penstock::testing
