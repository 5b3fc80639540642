#include "graph/plan/schedules/schedules.hpp"

#include <array>
#include <string>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

const Schedule grouped{
    .name = "grouped",
    .in_flight = [](int stage, int stages) { return 2 * (stages - 1 - stage) + 1; },
    .prefers = Direction::forward};

const Schedule interleaved{.name = "interleaved",
                           .in_flight = [](int stage, int stages) { return stages - stage; },
                           .prefers = Direction::backward};

const Schedule sequential{.name = "sequential",
                          .in_flight = [](int, int) { return 1; },
                          .prefers = Direction::backward,
                          .one_at_a_time = true};

namespace {

constexpr std::array schedules{&grouped, &interleaved, &sequential};

}  // namespace

int most_in_flight(const Schedule& schedule, int stage, int stages, std::int64_t window) {
  const int allowed = schedule.in_flight(stage, stages);
  return window > 0 && window < allowed ? static_cast<int>(window) : allowed;
}

std::span<const Schedule* const> all_schedules() {
  return schedules;
}

const Schedule& find_schedule(std::string_view name) {
  for (const Schedule* schedule : schedules)
    if (schedule->name == name) return *schedule;
  throw Error(Errc::invalid_argument, "there is no schedule named " + quoted_text(name) +
                                          "; there are " + joined(schedules, &Schedule::name));
}

std::optional<Direction> next_direction(const Schedule& schedule, bool forward_ready,
                                        bool backward_ready) noexcept {
  if (forward_ready && backward_ready) return schedule.prefers;
  if (forward_ready) return Direction::forward;
  if (backward_ready) return Direction::backward;
  return std::nullopt;
}

}  // namespace penstock::graph
