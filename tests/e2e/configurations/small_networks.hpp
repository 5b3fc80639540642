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

/// What a model says of how it is run.
struct Marks {
  std::uint32_t checkpoints = 0;  ///< whose bits say which values are marked for recomputation
  std::array<int, 4> ipus = {-1, -1, -1, -1};  ///< of the blocks
};

struct SmallNetwork {
  std::string name;
  /// Blocks "A" to "D", one output "out".
  std::function<Model(const Marks& marks)> build;
  /// One tensor per input, of so many samples.
  std::function<std::vector<Tensor>(std::int64_t count)> samples;
  std::string layer;      ///< the name of one within
  std::string parameter;  ///< the name of one
  /// As many as the compiler can cut it into; it leaves together what shares a parameter.
  int automatic_stages;
};

/// Floats and whole numbers below `limit`, the same for the same shape.
Tensor numbers(const Shape& shape);
Tensor integers(const Shape& shape, std::int64_t limit);

std::span<const SmallNetwork> small_networks();

/// One whose kernels threads share, and whose tensors are moved and updated in several pieces.
const SmallNetwork& large_network();

}  // namespace penstock::testing
