// balance() says where to cut a row of atoms, so that the slowest stage is as fast as possible. It
// is pure, and knows nothing of the atoms but their costs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace penstock::graph {

struct Balance {
  std::vector<double> costs = {};  ///< Has the cost of each atom, in order.
  /// Has what each atom costs in addition in the stages that `dearer` marks. If one of the two
  /// lists is empty, no atom costs more in any stage.
  std::vector<double> extra_costs = {};
  std::vector<bool> dearer = {};
  /// Counts, for each atom, the bytes that travel if a stage begins with it. Those of the first
  /// atom do not count.
  std::vector<std::int64_t> bytes_before = {};
  std::int32_t stages = 1;
  /// Is the share by which the slowest stage may be slower than necessary, so that fewer bytes
  /// travel.
  double tolerance = 0;
  /// Says whether the atoms [first, last) can be stage `stage`. If the function is empty, any atoms
  /// can.
  std::function<bool(std::int32_t first, std::int32_t last, std::int32_t stage)> fits = {};
};

/// Returns the first atom of each stage, or nothing if no cut fits. No stage is empty. The result
/// is one of the cuts whose slowest stage is as fast as possible, up to the tolerance: of these,
/// one with the fewest bytes between the stages and, if several have equally few, one with the
/// fastest slowest stage.
std::optional<std::vector<std::int32_t>> balance(const Balance& problem);

}  // namespace penstock::graph
