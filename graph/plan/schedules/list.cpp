// Every schedule, once. To add one: write its file pair, include it here, add it to the list.
#include <array>
#include <string>

#include "graph/plan/schedules/grouped.hpp"
#include "graph/plan/schedules/interleaved.hpp"
#include "graph/plan/schedules/schedule.hpp"
#include "graph/plan/schedules/sequential.hpp"
#include "graph/values/joined.hpp"
#include "graph/values/printable.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

constexpr std::array schedules{&grouped, &interleaved, &sequential};

}  // namespace

std::span<const Schedule* const> all_schedules() {
  return schedules;
}

const Schedule& find_schedule(std::string_view name) {
  for (const Schedule* schedule : schedules)
    if (schedule->name == name) return *schedule;
  throw Error(Errc::invalid_argument, "there is no schedule named " + quoted_text(name) +
                                          "; there are " + joined(schedules, &Schedule::name));
}

}  // namespace penstock::graph
