#include "graph/plan/schedules/timeline.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace penstock::graph {
namespace {

std::string_view describe(Wait::For what) {
  switch (what) {
    case Wait::For::activation:
      return "the activation of the stage before";
    case Wait::For::gradient:
      return "its gradient";
    case Wait::For::credit:
      return "a credit";
    case Wait::For::turn:
      return "the micro-batch before to leave the pipeline";
  }
  return "";
}

std::string label(const Run& run) {
  return (run.direction == Direction::forward ? "F" : "B") + std::to_string(run.micro_batch + 1);
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string heading(const Timeline& timeline) {
  std::string line = "cyc";
  for (const int ipu : timeline.ipus) line += " | " + padded("IPU" + std::to_string(ipu), 8);
  return line + "\n";
}

std::string row(std::size_t slot, const std::vector<std::string>& cells) {
  const std::string number = std::to_string(slot);
  std::string line = std::string(3 - std::min<std::size_t>(3, number.size()), ' ') + number;
  for (const std::string& cell : cells) line += " | " + padded(cell.empty() ? "." : cell, 8);
  return line + "\n";
}

}  // namespace

std::string to_string(const Wait& wait) {
  return "stage " + std::to_string(wait.stage) + ": " + std::string(to_string(wait.direction)) +
         " of micro-batch " + std::to_string(wait.micro_batch) + " waits for " +
         std::string(describe(wait.what));
}

double utilization(const Timeline& timeline) {
  double busy = 0;
  for (const Run& run : timeline.runs) busy += run.duration;
  const std::set<int> ipus(timeline.ipus.begin(), timeline.ipus.end());
  return timeline.total_time > 0 ? busy / (static_cast<double>(ipus.size()) * timeline.total_time)
                                 : 0;
}

const Run* run_that_fills(const Timeline& timeline) {
  const auto backward = [](const Run& run) { return run.direction == Direction::backward; };
  const bool training = std::ranges::any_of(timeline.runs, backward);
  const int last = training ? 0 : static_cast<int>(timeline.ipus.size()) - 1;
  const auto found = std::ranges::find_if(timeline.runs, [&](const Run& run) {
    return run.stage == last && backward(run) == training;
  });
  return found == timeline.runs.end() ? nullptr : &*found;
}

int ramp(const Timeline& timeline) {
  const Run* const full = run_that_fills(timeline);
  return static_cast<int>(std::ranges::count_if(timeline.runs, [&](const Run& run) {
    return run.stage == 0 && run.direction == Direction::forward &&
           (!full || run.time <= full->time);
  }));
}

std::string to_table(const Timeline& timeline) {
  std::vector<std::vector<std::string>> slots;
  for (const Run& run : timeline.runs) {
    const auto slot = static_cast<std::size_t>(run.slot);
    if (slots.size() <= slot)
      slots.resize(slot + 1, std::vector<std::string>(timeline.ipus.size()));
    std::string& cell = slots[slot][static_cast<std::size_t>(run.stage)];
    cell += (cell.empty() ? "" : " ") + label(run);
  }
  std::string table = heading(timeline);
  for (std::size_t slot = 0; slot < slots.size(); ++slot) table += row(slot, slots[slot]);
  return table;
}

}  // namespace penstock::graph
