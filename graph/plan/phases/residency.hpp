// Residency: when the weights of a phase are on its IPUs, by the numbers of phases. What two uses
// are no more than `longest_stay` steps apart for stays in between; what a phase needs comes while
// the one before it computes, if that has the number before. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/plan/phases/phases.hpp"
#include "penstock/trace.hpp"

namespace penstock::graph {

/// A phase at work in a direction.
struct Turn {
  std::int32_t phase = 0;
  Direction direction = Direction::forward;

  bool operator==(const Turn&) const = default;
};

/// In the order of work: all forwards, and in training all backwards.
std::vector<Turn> turns_of(const Phases& phases, bool training);

/// The turn whose weights come during `turn`, if any do.
std::optional<Turn> comes_during(const Phases& phases, const Turn& turn, bool training);

/// Whether the weights leave when a turn has ended, because it is too far to the next.
bool leaves_after(const Phases& phases, const Turn& turn, bool training);

/// Of the rooms for weights that an IPU has: that of a stage. Two phases of which one computes
/// while the weights of the other come have different rooms, if they are on the same IPUs.
inline constexpr std::int32_t rooms = 2;
std::int32_t room_of(const Phases& phases, std::int32_t stage);

/// The weights of a phase are there from one number to another, both included.
struct Stay {
  std::int32_t phase = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;

  bool operator==(const Stay&) const = default;
};

/// From the first forward to the end of the last turn, in the order of arrival. Each is one load.
std::vector<Stay> stays_of(const Phases& phases, bool training);

}  // namespace penstock::graph
