// balance() says where to cut a row of atoms, so that the slowest stage is as fast as can
// be. It is pure, and knows costs, but not what they are the costs of.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace penstock::graph {

struct Balance {
  std::vector<double> costs = {};  ///< Has the cost of each atom, in order.
  /// Is what each atom costs on top in the stages that `dearer` marks. If either is empty, no
  /// stage costs more.
  std::vector<double> extra_costs = {};
  std::vector<bool> dearer = {};
  /// Counts, for each atom, the bytes that travel if a stage begins with it. Those of the first
  /// atom do not count.
  std::vector<std::int64_t> bytes_before = {};
  std::int32_t stages = 1;
  /// Is the share by which the slowest stage may be slower than it has to be, if fewer bytes travel
  /// then.
  double tolerance = 0;
  /// Says whether the atoms [first, last) can be stage `stage`. If it is empty, they always can.
  std::function<bool(std::int32_t first, std::int32_t last, std::int32_t stage)> fits = {};
};

/// Returns the first atom of each stage. No stage is empty. Of all cuts whose slowest stage is
/// the fastest possible, up to the tolerance, it is one with the fewest bytes between the stages,
/// and of these the one with the fastest slowest stage. Returns nothing if no cut fits.
std::optional<std::vector<std::int32_t>> balance(const Balance& problem);

}  // namespace penstock::graph
