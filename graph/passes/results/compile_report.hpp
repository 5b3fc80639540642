// This pass says for people what a plan promises: a row per stage, the expected utilisation, and
// warnings. It is pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/plan/plan.hpp"
#include "graph/plan/schedules/simulator.hpp"
#include "penstock/report.hpp"

namespace penstock::graph {

struct ReportRequest {
  std::int64_t micro_batches = 1;  ///< Counts the micro-batches from an empty to an empty pipeline.
  std::int32_t threads = 0;  ///< Counts the threads that the IPUs share; 0 stands for one each.
  /// Has the seconds of each stage. If it is empty, costs are estimated.
  std::vector<StageCost> measured = {};
};

/// Simulates utilisation and speed-up over no more than 16 micro-batches per stage, or two if there
/// are very many stages. `seconds`, `phases`, `layout_conversions`, `lanes`, `wasted_lanes` and
/// `automatic_stages` are left open. @throws Error internal that names the stage that waits if the
/// schedule cannot finish the micro-batches.
CompileReport report_on(const Plan& plan, const ReportRequest& request);

}  // namespace penstock::graph
