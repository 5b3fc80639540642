#include "graph/compile/compile.hpp"

#include <string>
#include <utility>
#include <vector>

#include "graph/compile/compile_clock.hpp"
#include "graph/compile/compile_warnings.hpp"
#include "graph/compile/fitting_plan.hpp"
#include "graph/compile/staged_graph.hpp"
#include "graph/kernels/isa.hpp"
#include "graph/ops/rules/lane_shape.hpp"
#include "graph/passes/results/compile_report.hpp"
#include "graph/passes/stages/find_stages.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

void check(const Graph& model, const CompileRequest& request) {
  if (request.batch < 1)
    throw Error(Errc::invalid_argument, "expected at least one sample per micro-batch, got " +
                                            std::to_string(request.batch));
  // If the environment's PENSTOCK_ISA asks for an instruction set that the machine lacks, isa()
  // throws here, and not only in the first kernel.
  isa();
  const std::int32_t automatic_stages = request.options.topology.automatic_stages;
  if (automatic_stages > 0) expect_no_stages(model, automatic_stages);
}

CompileReport described(const StagedGraph& staged, const Plan& plan,
                        const CompileRequest& request) {
  CompileReport report = report_on(plan, {.micro_batches = request.gradient_accumulation,
                                          .threads = request.threads,
                                          .measured = staged.seconds});
  report.automatic_stages = request.options.topology.automatic_stages > 0;
  report.layout_conversions = staged.layout_conversions;
  report.lanes = staged.lane_nodes > 0 ? lanes_for(request.batch) : 0;
  report.wasted_lanes = report.lanes > 0 ? report.lanes - request.batch : 0;
  return report;
}

/// Returns all notes about `plan`. The warnings of `report` become notes, and are removed from
/// `report`.
std::vector<Note> notes_of(const Graph& model, const StagedGraph& staged, const Plan& plan,
                           const CompileRequest& request, CompileReport& report) {
  std::vector<Note> notes;
  for (const std::string& warning : staged.assignment.warnings) notes.push_back({.text = warning});
  for (const std::string& warning : std::exchange(report.warnings, {}))
    notes.push_back({.text = warning});
  for (Note& note : compile_warnings(model, staged, plan, request))
    notes.push_back(std::move(note));
  return notes;
}

}  // namespace

Compiled compile(const Graph& model, const CompileRequest& request) {
  CompileClock clock(request.progress);
  check(model, request);
  const StagedGraph staged = staged_graph(model, request, clock);

  clock.begin("memory");
  Plan plan = fitting_plan(model, staged, request);

  clock.begin("report");
  CompileReport report = described(staged, plan, request);
  std::vector<Note> notes = notes_of(model, staged, plan, request, report);
  report.steps = clock.end();
  report.seconds = clock.seconds();
  return {std::move(plan), std::move(report), std::move(notes)};
}

}  // namespace penstock::graph
