#include "graph/passes/results/compile_report.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "graph/plan/schedules/simulator.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

double total(const StageCost& cost) {
  return cost.forward + cost.backward;
}

double sum(const std::vector<StageCost>& costs) {
  double all = 0;
  for (const StageCost& cost : costs) all += total(cost);
  return all;
}

std::vector<StageCost> estimated(const Plan& plan) {
  std::vector<StageCost> costs;
  for (const StagePlan& stage : plan.stages)
    costs.push_back({.forward = stage.forward.cost.work(), .backward = stage.backward.cost.work()});
  return costs;
}

/// Returns what to simulate: a window of `micro_batches` micro-batches or, if that is long, a
/// shorter window, which shows nearly as well how busy the pipeline is.
Simulation window(const Plan& plan, const std::vector<StageCost>& costs,
                  std::int64_t micro_batches) {
  const auto stages = static_cast<std::int64_t>(plan.stages.size());
  std::vector<int> ipus;
  for (const StagePlan& stage : plan.stages) ipus.push_back(stage.ipu);
  // In a window of 16 micro-batches per stage, filling and emptying the pipeline hardly matter.
  // With many stages, the window is shorter, because a simulation takes long.
  const auto longest = std::max(2 * stages, std::min(16 * stages, 4096 / stages));
  const auto enough = std::clamp<std::int64_t>(micro_batches, 1, longest);
  return {.schedule = *plan.schedule,
          .stages = static_cast<int>(stages),
          .micro_batches = static_cast<int>(enough),
          .training = plan.training,
          .costs = costs,
          .ipus = ipus,
          .phases = plan.phases};
}

/// Returns how many micro-batches the first stage of `plan` may hold in a window that is long
/// enough.
std::int32_t filling(const Plan& plan) {
  return plan.phases.none() ? plan.schedule->in_flight(0, static_cast<int>(plan.stages.size()))
                            : plan.phases.turn;
}

/// Returns how many micro-batches the first stage begins until the pipeline is full, as `timeline`,
/// the timeline of `window`, shows. If the window is too short for the pipeline to fill, returns
/// the number that the schedule allows: with many stages, a window that is long enough would take
/// long to simulate.
int ramp_of(const Plan& plan, const Simulation& window, const Timeline& timeline) {
  const std::int32_t in_flight = filling(plan);
  if (window.micro_batches >= in_flight) return ramp(timeline);
  return plan.training ? in_flight : std::min(in_flight, window.stages);
}

/// Returns the speed-up over one IPU if all IPUs share `threads` threads, where 0 says that each
/// IPU has threads of its own. `timeline` is the result of `simulation` with a processor for every
/// IPU.
double expected_speedup(Simulation simulation, const Timeline& timeline, std::int32_t threads) {
  simulation.processors = threads;
  const std::set<int> ipus(simulation.ipus.begin(), simulation.ipus.end());
  const bool enough = threads <= 0 || static_cast<std::size_t>(threads) >= ipus.size();
  const double together = enough ? timeline.total_time : simulate(simulation).total_time;
  return together > 0 ? sum(simulation.costs) * simulation.micro_batches / together : 1;
}

/// Returns the wait that causes all other waits: that of the last stage that may not take another
/// micro-batch. The stages before that stage wait until it takes one, and the stages after it wait
/// for what it would send.
const Wait& cause_of(const std::vector<Wait>& stalled) {
  const auto held_up = [](const Wait& wait) {
    return wait.what == Wait::For::credit || wait.what == Wait::For::turn;
  };
  const auto last = std::find_if(stalled.rbegin(), stalled.rend(), held_up);
  return last == stalled.rend() ? stalled.front() : *last;
}

void refuse_stall(const Plan& plan, const Timeline& timeline) {
  if (timeline.stalled.empty()) return;
  throw Error(Errc::internal, "the schedule \"" + std::string(plan.schedule->name) +
                                  "\" stalls a pipeline of " + std::to_string(plan.stages.size()) +
                                  ": " + to_string(cause_of(timeline.stalled)));
}

std::int64_t parameters_of(const StagePlan& stage) {
  std::int64_t elements = 0;
  for (const VariablePlan& variable : stage.variables)
    if (variable.owner == none) elements += variable.type.shape.elements();
  return elements;
}

StagePlanReport row_of(const Plan& plan, std::size_t number, double share) {
  const StagePlan& stage = plan.stages[number];
  const auto& layers = stage.forward.instructions;
  const Phases& phases = plan.phases;
  const PhaseNumbers numbers =
      phases.none() ? PhaseNumbers{-1, -1} : phases.numbers[index(phases.of_stage[number])];
  return {.stage = static_cast<int>(number),
          .ipu = stage.ipu,
          .blocks = stage.blocks,
          .phase = phases.none() ? -1 : phases.of_stage[number],
          .forward_phase = numbers.forward,
          .backward_phase = numbers.backward,
          .first_layer = layers.empty() ? "" : layers.front().name,
          .parameters = parameters_of(stage),
          .forward_flops = stage.forward.cost.flops,
          .backward_flops = stage.backward.cost.flops,
          .recomputed_flops = stage.backward.recomputed_cost.flops,
          .share = share,
          .in_flight_limit = stage.in_flight,
          .stash_bytes = micro_batch_bytes(stage),
          .bytes = stage_bytes(plan, number)};
}

std::vector<EdgePlanReport> edges_of(const Plan& plan) {
  std::vector<EdgePlanReport> edges;
  for (const Edge& edge : plan.edges)
    if (edge.kind != EdgeKind::order)
      edges.push_back({.from = edge.from,
                       .to = edge.to,
                       .tensor = edge.name,
                       .gradient = edge.kind == EdgeKind::gradient,
                       .bytes = edge.type.bytes()});
  return edges;
}

std::string too_few(const Plan& plan, std::int64_t micro_batches, double utilization) {
  return "windows of " + std::to_string(micro_batches) + " (gradient accumulation) do not fill " +
         std::to_string(plan.stages.size()) + " stages under the schedule \"" +
         std::string(plan.schedule->name) + "\", which takes " + std::to_string(filling(plan)) +
         " micro-batches: the IPUs will be busy " + std::to_string(std::lround(100 * utilization)) +
         " % of the time";
}

/// Returns a warning that the pipeline is empty at the beginning and at the end of every call of
/// inference.
std::string too_few_in_a_call(std::int64_t micro_batches, std::size_t stages, double utilization) {
  return "calls of inference with " + std::to_string(micro_batches) +
         (micro_batches == 1 ? " micro-batch" : " micro-batches") +
         " (device iterations) do not fill " + std::to_string(stages) + " stages, which takes " +
         std::to_string(stages) + " micro-batches: the IPUs will be busy " +
         std::to_string(std::lround(100 * utilization)) + " % of the time";
}

/// Returns whether stages wait for each other however many micro-batches a call has: because one
/// micro-batch is in flight at a time, because execution is in phases, or because all stages are on
/// one IPU.
bool take_turns(const Plan& plan) {
  const std::int32_t ipu = plan.stages[0].ipu;
  return filling(plan) == 1 || !plan.phases.none() ||
         std::ranges::all_of(plan.stages, [&](const StagePlan& stage) { return stage.ipu == ipu; });
}

}  // namespace

CompileReport report_on(const Plan& plan, const ReportRequest& request) {
  const bool measured = !request.measured.empty();
  const auto costs = measured ? request.measured : estimated(plan);
  const double all = sum(costs);
  CompileReport report{
      .edges = edges_of(plan), .threads = request.threads, .threads_per_ipu = plan.threads_per_ipu};
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
    report.stages.push_back(row_of(plan, stage, all > 0 ? total(costs[stage]) / all : 0));
    if (!measured) continue;
    report.stages.back().forward_seconds = costs[stage].forward;
    report.stages.back().backward_seconds = costs[stage].backward;
  }
  const Simulation simulation = window(plan, costs, request.micro_batches);
  const Timeline timeline = simulate(simulation);
  refuse_stall(plan, timeline);
  report.expected_utilization = utilization(timeline);
  report.ramp = ramp_of(plan, simulation, timeline);
  report.expected_speedup = expected_speedup(simulation, timeline, request.threads);
  if (take_turns(plan)) return report;
  if (plan.training && request.micro_batches < filling(plan))
    report.warnings.push_back(too_few(plan, request.micro_batches, report.expected_utilization));
  if (!plan.training && request.micro_batches < std::ssize(plan.stages))
    report.warnings.push_back(
        too_few_in_a_call(request.micro_batches, plan.stages.size(), report.expected_utilization));
  return report;
}

}  // namespace penstock::graph
