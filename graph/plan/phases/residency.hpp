// Residency says when the weights of a phase are on its IPUs, by the numbers of phases
// (phase_numbers.hpp). Weights stay between two uses whose numbers are no more than `longest_stay`
// apart. The weights of the phase with number n come while the phase with number n-1 computes, if
// there is such a phase. The functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/plan/phases/phases.hpp"
#include "penstock/trace.hpp"

namespace penstock::graph {

/// A Turn is the work of a phase in one direction.
struct Turn {
  std::int32_t phase = 0;
  Direction direction = Direction::forward;

  bool operator==(const Turn&) const = default;
};

/// Returns the turns in the order of work: first all forwards and then, in training, all backwards.
std::vector<Turn> turns_of(const Phases& phases, bool training);

/// Returns the turn whose weights come during `turn`, or nothing if no weights come then.
std::optional<Turn> comes_during(const Phases& phases, const Turn& turn, bool training);

/// Returns whether the weights of a turn's phase leave the IPU at the end of the turn, because no
/// later turn needs them, or only a turn that comes too late.
bool leaves_after(const Phases& phases, const Turn& turn, bool training);

/// An IPU has this many rooms for weights; room_of() returns the room that a stage uses. If one of
/// two phases computes while the weights of the other come to the same IPUs, the two phases have
/// different rooms.
inline constexpr std::int32_t rooms = 2;
std::int32_t room_of(const Phases& phases, std::int32_t stage);

/// A Stay says from which number to which, both included, the weights of a phase are on its IPUs.
struct Stay {
  std::int32_t phase = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;

  bool operator==(const Stay&) const = default;
};

/// Returns when the weights of which phase are on its IPUs, from the first forward to the end of
/// the last turn, in the order in which they come. They are loaded once for each stay.
std::vector<Stay> stays_of(const Phases& phases, bool training);

}  // namespace penstock::graph
