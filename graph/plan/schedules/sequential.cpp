#include "graph/plan/schedules/sequential.hpp"

namespace penstock::graph {
namespace {

int in_flight(int, int) {
  return 1;
}

}  // namespace

const Schedule sequential{.name = "sequential",
                          .in_flight = in_flight,
                          .prefers = Direction::backward,
                          .one_at_a_time = true};

}  // namespace penstock::graph
