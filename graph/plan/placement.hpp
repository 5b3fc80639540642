// Placement: where a value of a stage lives, and how a program gets at it. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// Says when the elements of a value are where a program can work on them.
enum class Arrival : std::uint8_t {
  always,     ///< whenever the program runs: they lie on the IPU, or are brought for its turn
  copied,     ///< from a copy of the program's own, which is loaded whole before the first
              ///< instruction that reads it, and stored after the one that computes it
  in_pieces,  ///< piece by piece, in the workspace of the instruction that works on them
};

struct Placement {
  Location home = {};  ///< where the value lives between programs
  Arrival arrival = Arrival::always;

  bool operator==(const Placement&) const = default;
};

/// The placements of a stage's values, by ValueId. A value without one is a temporary of a program,
/// or belongs to other stages.
using Placements = std::vector<std::optional<Placement>>;

/// Returns whether a program has to find room in its scratch for a value.
inline bool needs_scratch(const std::optional<Placement>& placement) {
  return !placement || placement->arrival == Arrival::copied;
}

}  // namespace penstock::graph
