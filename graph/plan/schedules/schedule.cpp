#include "graph/plan/schedules/schedule.hpp"

namespace penstock::graph {

std::optional<Direction> next_direction(const Schedule& schedule, bool forward_ready,
                                        bool backward_ready) noexcept {
  if (forward_ready && backward_ready) return schedule.prefers;
  if (forward_ready) return Direction::forward;
  if (backward_ready) return Direction::backward;
  return std::nullopt;
}

}  // namespace penstock::graph
