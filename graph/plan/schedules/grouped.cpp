#include "graph/plan/schedules/grouped.hpp"

namespace penstock::graph {
namespace {

int in_flight(int stage, int stages) {
  return 2 * (stages - 1 - stage) + 1;
}

}  // namespace

const Schedule grouped{.name = "grouped", .in_flight = in_flight, .prefers = Direction::forward};

}  // namespace penstock::graph
