// Pass: where to cut a row of pieces of work, so that the slowest stage is as fast as can be. Pure:
// knows costs, not what they are the costs of.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace penstock::graph {

struct Balance {
  std::vector<double> costs = {};  ///< of each piece, in order
  /// What each piece costs on top in the stages that `dearer` marks; both empty: nothing.
  std::vector<double> extra_costs = {};
  std::vector<bool> dearer = {};
  /// Before each piece: the bytes that travel if a stage begins there. The first one's don't count.
  std::vector<std::int64_t> bytes_before = {};
  std::int32_t stages = 1;
  /// The slowest stage may be slower than it has to be by this share, if fewer bytes travel then.
  double tolerance = 0;
  /// Whether the pieces [first, last) can be stage `stage`; empty: always.
  std::function<bool(std::int32_t first, std::int32_t last, std::int32_t stage)> fits = {};
};

/// The first piece of each stage: no stage is empty, and of all cuts whose slowest stage is the
/// fastest possible, up to the tolerance, it is one with the fewest bytes between the stages; of
/// these the one with the fastest slowest stage. Nothing if no cut fits.
std::optional<std::vector<std::int32_t>> balance(const Balance& problem);

}  // namespace penstock::graph
