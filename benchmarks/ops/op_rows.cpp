#include "benchmarks/ops/op_rows.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "benchmarks/machine/fma_peak.hpp"
#include "benchmarks/machine/memory_bandwidth.hpp"
#include "benchmarks/machine/one_core.hpp"
#include "benchmarks/measuring/measure.hpp"
#include "benchmarks/measuring/table.hpp"
#include "benchmarks/measuring/turns.hpp"
#include "benchmarks/ops/op_call.hpp"
#include "benchmarks/ops/op_cases.hpp"

namespace penstock::benchmarks {
namespace {

/// Returns the GB/s at which `memory` is read, or written if `writes` is true.
double bandwidth(WorkingSet& memory, bool writes) {
  std::vector<double> passes;
  for (int pass = 0; pass < 10; ++pass) passes.push_back(writes ? memory.write() : memory.read());
  return median(passes);
}

/// A Figure has medians of several rounds.
struct Figure {
  double gflops;
  double peak;       ///< `peak` is the core's peak in GFLOP/s.
  double gigabytes;  ///< `gigabytes` is the bandwidth of memory in GB/s.
  /// `roof` is the roofline in GFLOP/s: the peak, or less if the op's bytes take longer than its
  /// operations.
  double roof;

  double of_peak() const { return 100 * gflops / peak; }
  double of_roof() const { return 100 * gflops / roof; }
};

/// Measures the core's peak, the bandwidth of memory and calls of `item` by turns, and returns the
/// medians of `rounds` rounds.
Figure measure(const OpCase& item, int rounds) {
  const graph::Isa isa = graph::available_isas().back();
  const OpCall call(item);
  const graph::Cost cost = call.cost();
  WorkingSet memory(isa, static_cast<std::int64_t>(cost.bytes));
  const std::vector<double> medians =
      medians_by_turns(rounds, {[&] { return fma_peak_now(isa); },
                                [&] { return bandwidth(memory, call.writes_most()); },
                                [&] { return call_seconds([&] { call.run(); }); }});
  const double peak = medians[0], gigabytes = medians[1], seconds = medians[2];
  return {.gflops = cost.flops / seconds * 1e-9,
          .peak = peak,
          .gigabytes = gigabytes,
          .roof = std::min(peak, gigabytes * cost.flops / cost.bytes)};
}

/// Returns a text such as "66-96", or "80" if both ends are the same.
std::string range(const std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax_element(values);
  const std::string from = number(*low), to = number(*high);
  return from == to ? from : from + "-" + to;
}

Row row_of(const OpGoal& goal, int rounds) {
  std::vector<double> gflops, of_peak, seen;
  Figure worst{};
  const OpCase* worst_case = nullptr;
  const auto share = [&](const Figure& figure) {
    return goal.of_roof ? figure.of_roof() : figure.of_peak();
  };
  for (const OpCase& item : goal.cases) {
    const Figure figure = measure(item, rounds);
    gflops.push_back(figure.gflops);
    of_peak.push_back(figure.of_peak());
    seen.push_back(figure.of_peak() * item.seen);
    if (worst_case != nullptr && share(figure) >= share(worst)) continue;
    worst = figure;
    worst_case = &item;
  }
  Row row{.work = goal.work,
          .unit = "GFLOP/s",
          .setting = goal.cases.size() == 1 ? worst_case->name : "least: " + worst_case->name,
          .penstock = range(gflops),
          .of_peak = range(of_peak),
          .goals = {at_least(goal.percent, share(worst)) + " (" + number(share(worst)) + " % of " +
                    (goal.of_roof ? "roof)" : "peak)")}};
  if (range(seen) != row.of_peak) row.of_peak += " [" + range(seen) + "]";
  if (goal.of_roof) row.setting += ", " + number(worst.gigabytes) + " GB/s: " + number(worst.roof);
  return row;
}

}  // namespace

void print_op_rows(int rounds) {
  on_one_core([rounds] {
    for (const OpGoal& goal : op_goals()) print(row_of(goal, rounds));
  });
}

}  // namespace penstock::benchmarks
