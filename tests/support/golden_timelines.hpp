// A GoldenTimeline is what the reference systems do in each of their cycles, steps or slots, as a
// table that names every program run of every IPU.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/plan/schedules/simulator.hpp"

namespace penstock::testing {

struct GoldenTimeline {
  std::string_view name;
  std::string_view schedule;
  graph::Discipline discipline;
  int stages;
  int micro_batches;
  std::string_view table;  ///< Is an empty line, then a table in the form of graph::to_table().
};

std::span<const GoldenTimeline> golden_timelines();

/// Returns the program runs of each stage in their order, such as "F1 F2 B1 B2". A stage's runs are
/// in its column of `table`.
std::vector<std::string> order_by_stage(std::string_view table, int stages);

void PrintTo(const GoldenTimeline& golden, std::ostream* stream);

}  // namespace penstock::testing
