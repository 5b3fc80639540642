// This pass makes a report on a plan for people to read: a row per stage, the expected utilization,
// and warnings. It is pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/plan/plan.hpp"
#include "graph/plan/schedules/simulator.hpp"
#include "penstock/report.hpp"

namespace penstock::graph {

struct ReportRequest {
  /// This is the number of micro-batches of a window in training, or of a call in inference.
  std::int64_t micro_batches = 1;
  /// All IPUs share this many threads; 0 says that each IPU has a thread of its own.
  std::int32_t threads = 0;
  /// These are the measured seconds of each stage. If the list is empty, costs are estimated.
  std::vector<StageCost> measured = {};
};

/// Returns the report on `plan`. Utilization and speed-up come from a simulation of at most 16
/// micro-batches per stage, or at most two if there are very many stages. The caller fills in
/// `seconds`, `steps`, `from_cache`, `call`, `outputs`, `layout_conversions`, `lanes`,
/// `wasted_lanes` and `automatic_stages`. @throws Error internal if the schedule cannot finish the
/// micro-batches; the text names a stage that waits.
CompileReport report_on(const Plan& plan, const ReportRequest& request);

}  // namespace penstock::graph
