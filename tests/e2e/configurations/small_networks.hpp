// Tiny networks of several kinds and data for them: what the property test over configurations
// trains.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "penstock/penstock.hpp"

namespace penstock::testing {

struct SmallNetwork {
  const char* name;
  /// Blocks "A" to "D", one output "out". The bits of `checkpoints` say which values within are
  /// marked for recomputation.
  Model (*build)(std::uint32_t checkpoints);
  /// One tensor per input, of so many samples.
  std::vector<Tensor> (*samples)(std::int64_t count);
  const char* layer;      ///< the name of one within
  const char* parameter;  ///< the name of one
  /// As many as the compiler can cut it into; it leaves together what shares a parameter.
  int automatic_stages;
};

std::span<const SmallNetwork> small_networks();

}  // namespace penstock::testing
