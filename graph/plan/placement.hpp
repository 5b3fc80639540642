// A Placement says where a value of a stage lives, and how a program reaches it. It is plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/plan/plan.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

/// An Arrival says when the elements of a value are where a program can work on them.
enum class Arrival : std::uint8_t {
  /// The elements are there whenever the program runs. Either they lie on the IPU, or they are
  /// brought there for the program's turn.
  always,
  /// The program works on a copy of the elements. The copy is loaded whole before the first
  /// instruction that reads the value, or stored after the instruction that computes the value.
  copied,
  /// The elements come piece by piece, in the workspace of the instruction that works on them.
  in_pieces,
};

struct Placement {
  Location home = {};  ///< `home` is where the value lives between programs.
  Arrival arrival = Arrival::always;

  bool operator==(const Placement&) const = default;
};

/// Placements are the placements of a stage's values, by ValueId. A value without a placement is a
/// temporary of a program, or belongs to other stages.
using Placements = std::vector<std::optional<Placement>>;

/// Returns whether a program has to find room in its scratch for a value with the placement
/// `placement`.
inline bool needs_scratch(const std::optional<Placement>& placement) {
  return !placement || placement->arrival == Arrival::copied;
}

/// Returns whether the host store keeps `variable`, which then lies in the weight room while a
/// program runs.
inline bool is_in_weight_room(const Value& variable, const OffloadOptions& offload) {
  return variable.kind == ValueKind::parameter && offload.weights.takes(variable.type.bytes());
}

}  // namespace penstock::graph
