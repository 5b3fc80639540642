#include "graph/plan/schedules/interleaved.hpp"

namespace penstock::graph {
namespace {

int in_flight(int stage, int stages) {
  return stages - stage;
}

}  // namespace

const Schedule interleaved{
    .name = "interleaved", .in_flight = in_flight, .prefers = Direction::backward};

}  // namespace penstock::graph
