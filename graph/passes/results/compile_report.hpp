// What a plan promises, for people: a row per stage, the expected utilisation, warnings. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/plan/plan.hpp"
#include "graph/plan/schedules/simulator.hpp"
#include "penstock/report.hpp"

namespace penstock::graph {

struct ReportRequest {
  std::int64_t micro_batches = 1;        ///< from an empty to an empty pipeline
  std::int32_t threads = 0;              ///< that the IPUs share; 0: one each
  std::vector<StageCost> measured = {};  ///< seconds of each stage; empty: costs are estimated
};

/// Utilisation and speed-up are simulated over no more than 16 micro-batches per stage (two, of
/// very many stages). `seconds`, `phases`, `layout_conversions`, `lanes`, `wasted_lanes` and
/// `automatic_stages` are left open. @throws Error internal naming the stage that waits if the
/// schedule cannot finish them.
CompileReport report_on(const Plan& plan, const ReportRequest& request);

}  // namespace penstock::graph
