// These functions draw counter-based random numbers (Philox 4x32-10, Salmon et al., SC 2011). A
// draw depends on its key and its index alone, never on earlier draws or on the thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "graph/values/fnv.hpp"

namespace penstock::graph {

/// A RandomKey says what a draw belongs to. The same draw has the same key on every topology.
struct RandomKey {
  std::uint64_t seed = 0;
  /// `update` is the number of weight updates before the one that draws. For draws of a loader or
  /// of a dataset's transforms it is the number of the epoch, and for those of synthetic digits the
  /// number of the sample.
  std::uint64_t update = 0;
  std::uint32_t replica = 0;
  /// `micro_batch` is the number of the micro-batch within its window.
  std::uint32_t micro_batch = 0;
  /// `name` is hash_name() of the name of the node, or of anything else that draws.
  std::uint64_t name = 0;
};

/// Returns the four numbers that the bare generator, Philox 4x32 with ten rounds, makes of
/// `counter` and `key`.
std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key) noexcept;

/// Returns four independent 32-bit draws: numbers 4*index to 4*index+3 of the sequence of `key`.
std::array<std::uint32_t, 4> philox(const RandomKey& key, std::uint64_t index) noexcept;

/// Returns `draw` as a number in [0, 1), which is a multiple of 2^-24.
constexpr float to_unit(std::uint32_t draw) noexcept {
  return static_cast<float>(draw >> 8) * 0x1p-24f;
}

/// Returns the FNV-1a hash of a name, which is the same in every build and on every machine.
constexpr std::uint64_t hash_name(std::string_view name) noexcept {
  return fnv_on(fnv_of_nothing, name);
}

}  // namespace penstock::graph
