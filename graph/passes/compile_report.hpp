// What a plan promises, for people: a row per stage, the expected utilisation, warnings. Pure.
#pragma once

#include <cstdint>

#include "graph/plan.hpp"
#include "penstock/report.hpp"

namespace penstock::graph {

/// `micro_batches`: from an empty to an empty pipeline; the utilisation is simulated over no more
/// than 16 per stage (two, of very many stages). `seconds` and `phases` are left open.
CompileReport report_on(const Plan& plan, std::int64_t micro_batches);

}  // namespace penstock::graph
