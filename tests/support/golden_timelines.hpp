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
  /// This is an empty line, and then a table in the form of graph::to_table().
  std::string_view table;
};

std::span<const GoldenTimeline> golden_timelines();

/// Returns a text for each stage that has the stage's program runs in their order, such as "F1 F2
/// B1 B2". They come from the stage's column of `table`.
std::vector<std::string> order_by_stage(std::string_view table, int stages);

void PrintTo(const GoldenTimeline& golden, std::ostream* stream);

}  // namespace penstock::testing
