#include "graph/plan/sharing.hpp"

#include <algorithm>

namespace penstock::graph {
namespace {

/// Each part has at least this much work, in the unit of Cost::work(). A thread that waits for work
/// gets a part within a microsecond, and a thread that sleeps gets it after ten microseconds or
/// more; a core does this much work in two to five microseconds.
constexpr double least_work = 2.5e5;
/// A piece has at most about this much work, in the unit of Cost::work(). A core takes about 100
/// milliseconds for so much work, so that the time to begin the kernel again for the next piece
/// does not matter.
constexpr double long_work = 1e10;

}  // namespace

Sharing share_out(const Op& op, const Attributes& attributes, Types inputs, Types outputs,
                  std::int32_t threads) {
  if (!op.units || !op.cost) return {};
  const std::int64_t units = op.units(attributes, inputs, outputs);
  const double work = op.cost(attributes, inputs, outputs).work();
  // `count` returns how many times `each` is contained in the work, at least once and at most as
  // often as there are units.
  const auto count = [&](double each) {
    return std::max<std::int64_t>(
        1, std::min(units, static_cast<std::int64_t>(std::min(work / each, double{1 << 20}))));
  };
  const std::int64_t parts = std::min<std::int64_t>(std::max(threads, 1), count(least_work));
  const std::int64_t pieces = std::max<std::int64_t>(count(long_work) / parts, 1);
  if (parts * pieces <= 1) return {};
  return {.units = units,
          .parts = static_cast<std::int32_t>(parts),
          .pieces = static_cast<std::int32_t>(pieces)};
}

Part piece_of(const Sharing& sharing, std::int32_t number) {
  const std::int64_t all = std::int64_t{sharing.parts} * sharing.pieces;
  return {sharing.units * number / all, sharing.units * (number + 1) / all};
}

}  // namespace penstock::graph
