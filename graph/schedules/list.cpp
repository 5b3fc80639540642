// Every schedule, once. To add one: write its file pair, include it here, add it to the list.
#include <array>
#include <string>

#include "engine/values/joined.hpp"
#include "engine/values/printable.hpp"
#include "graph/schedule.hpp"
#include "graph/schedules/grouped.hpp"
#include "graph/schedules/interleaved.hpp"
#include "graph/schedules/sequential.hpp"
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
