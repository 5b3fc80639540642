#include "graph/sharing.hpp"

#include <algorithm>

namespace penstock::graph {
namespace {

/// Of each part, as Cost counts it. A thread that waits for work has it within a microsecond, one
/// that sleeps within ten or more; a core does this in some ten.
constexpr double least_work = 5e5;

}  // namespace

Sharing share_out(const Op& op, const Attributes& attributes, Types inputs, Types outputs,
                  std::int32_t threads) {
  if (threads <= 1 || !op.units || !op.cost) return {};
  const std::int64_t units = op.units(attributes, inputs, outputs);
  const double work = op.cost(attributes, inputs, outputs).work();
  const auto worth = static_cast<std::int64_t>(std::min(work / least_work, double{1 << 20}));
  const std::int64_t parts = std::min({std::int64_t{threads}, units, worth});
  if (parts <= 1) return {};
  return {.units = units, .parts = static_cast<std::int32_t>(parts)};
}

Part part_of(const Sharing& sharing, std::int32_t number) {
  return {sharing.units * number / sharing.parts, sharing.units * (number + 1) / sharing.parts};
}

}  // namespace penstock::graph
