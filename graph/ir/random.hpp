// Counter-based random numbers (Philox 4x32-10, Salmon et al., SC 2011): a draw depends on its key
// and index alone, never on what was drawn before it or on which thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "graph/values/fnv.hpp"

namespace penstock::graph {

/// What a draw belongs to: the same everywhere, whatever the topology.
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint64_t update = 0;  ///< weight updates done since the run began
  std::uint32_t replica = 0;
  std::uint32_t micro_batch = 0;  ///< within its accumulation window
  std::uint64_t name = 0;         ///< hash_name() of the op's name in the model
};

/// The bare generator: Philox 4x32 with ten rounds.
std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key) noexcept;

/// Four independent 32-bit draws: numbers 4*index to 4*index+3 of the key's sequence.
std::array<std::uint32_t, 4> philox(const RandomKey& key, std::uint64_t index) noexcept;

/// A draw mapped to [0, 1): multiples of 2^-24.
constexpr float to_unit(std::uint32_t draw) noexcept {
  return static_cast<float>(draw >> 8) * 0x1p-24f;
}

/// Returns the FNV-1a hash of a name, which is the same in every build and on every machine.
constexpr std::uint64_t hash_name(std::string_view name) noexcept {
  return fnv_on(fnv_of_nothing, name);
}

}  // namespace penstock::graph
