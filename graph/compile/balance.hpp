// balance() says where to cut a row of atoms, so that the slowest stage is as fast as possible. It
// is pure, and knows nothing of the atoms but their costs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace penstock::graph {

struct Balance {
  std::vector<double> costs = {};  ///< These are the costs of the atoms, in order.
  /// These are the costs that each atom has in addition in the stages that `dearer` marks. If one
  /// of the two lists is empty, no atom costs more in any stage.
  std::vector<double> extra_costs = {};
  std::vector<bool> dearer = {};
  /// This has, for each atom, the number of bytes that travel between stages if a stage begins with
  /// the atom. The number of the first atom does not count.
  std::vector<std::int64_t> bytes_before = {};
  std::int32_t stages = 1;
  /// The slowest stage may be slower by this share than it could be, if fewer bytes travel then.
  double tolerance = 0;
  /// This says whether the atoms [first, last) can be stage number `stage`. If the function is
  /// empty, any atoms can be any stage.
  std::function<bool(std::int32_t first, std::int32_t last, std::int32_t stage)> fits = {};
};

/// Returns the first atom of each stage, or nothing if there is no cut that fits. No stage is
/// empty. The slowest stage is as fast as possible, up to the tolerance. Of all cuts for which this
/// holds, the result has the fewest bytes between stages and, if several cuts have equally few, the
/// fastest slowest stage.
std::optional<std::vector<std::int32_t>> balance(const Balance& problem);

}  // namespace penstock::graph
