#include "graph/passes/compile_report.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "graph/schedules/simulator.hpp"

namespace penstock::graph {
namespace {

/// In units of a floating-point operation: moving a byte takes about as long as four of them.
double work(const Cost& cost) {
  return cost.flops + 4 * cost.bytes;
}

std::vector<StageCost> costs_of(const Plan& plan) {
  std::vector<StageCost> costs;
  for (const StagePlan& stage : plan.stages)
    costs.push_back({.forward = work(stage.forward.cost), .backward = work(stage.backward.cost)});
  return costs;
}

double expected_utilization(const Plan& plan, std::int64_t micro_batches) {
  const auto stages = static_cast<std::int64_t>(plan.stages.size());
  std::vector<int> ipus;
  for (const StagePlan& stage : plan.stages) ipus.push_back(stage.ipu);
  // What begins and ends a window hardly shows in one that is longer; many stages take long enough.
  const auto longest = std::max(2 * stages, std::min(16 * stages, 4096 / stages));
  const auto enough = std::clamp<std::int64_t>(micro_batches, 1, longest);
  return utilisation(simulate({.schedule = *plan.schedule,
                               .stages = static_cast<int>(stages),
                               .micro_batches = static_cast<int>(enough),
                               .training = plan.training,
                               .costs = costs_of(plan),
                               .ipus = ipus}));
}

std::int64_t parameters_of(const StagePlan& stage) {
  std::int64_t elements = 0;
  for (const VariablePlan& variable : stage.variables) elements += variable.type.shape.elements();
  return elements;
}

StagePlanReport row_of(const Plan& plan, std::size_t number) {
  const StagePlan& stage = plan.stages[number];
  return {.stage = static_cast<int>(number),
          .ipu = stage.ipu,
          .blocks = stage.blocks,
          .parameters = parameters_of(stage),
          .forward_flops = stage.forward.cost.flops,
          .backward_flops = stage.backward.cost.flops,
          .in_flight_limit = stage.in_flight,
          .bytes = stage_bytes(plan, number)};
}

std::string too_few(const Plan& plan, std::int64_t micro_batches, double utilization) {
  return "windows of " + std::to_string(micro_batches) + " (gradient accumulation) do not fill " +
         std::to_string(plan.stages.size()) + " stages under the schedule \"" +
         std::string(plan.schedule->name) + "\", which takes " +
         std::to_string(plan.stages[0].in_flight) + " micro-batches: the IPUs will be busy " +
         std::to_string(std::lround(100 * utilization)) + " % of the time";
}

}  // namespace

CompileReport report_on(const Plan& plan, std::int64_t micro_batches) {
  CompileReport report;
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage)
    report.stages.push_back(row_of(plan, stage));
  report.expected_utilization = expected_utilization(plan, micro_batches);
  if (plan.training && micro_batches < plan.stages[0].in_flight)
    report.warnings.push_back(too_few(plan, micro_batches, report.expected_utilization));
  return report;
}

}  // namespace penstock::graph
