// A RandomRun draws many neighbouring numbers of the sequence of one key, which is much faster than
// to call philox() for each four of them.
#pragma once

#include <array>
#include <cstdint>

#include "graph/ir/random.hpp"

namespace penstock::graph {

/// A PhiloxStart is what the bare generator begins with: the upper half of its counter, and its
/// key. Both are digests of a RandomKey.
struct PhiloxStart {
  std::array<std::uint32_t, 2> upper_counter, key;
};
PhiloxStart philox_start(const RandomKey& key) noexcept;

class RandomRun {
 public:
  /// This many indices are drawn at a time, each of which has four numbers.
  static constexpr std::size_t indices = 16, size = 4 * indices;
  using Draws = std::array<std::uint32_t, size>;

  explicit RandomRun(const RandomKey& key) noexcept : start_(philox_start(key)) {}

  /// Returns what philox() returns for the indices `index` to `index` + 15, one behind the other.
  Draws draw(std::uint64_t index) const noexcept;

 private:
  PhiloxStart start_;
};

}  // namespace penstock::graph
