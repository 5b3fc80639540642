#include "graph/compile/staged_graph.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "graph/compile/plan_choice.hpp"
#include "graph/passes/network/anchors.hpp"
#include "graph/passes/network/choose_layouts.hpp"
#include "graph/passes/network/differentiate.hpp"
#include "graph/passes/network/final_loss.hpp"
#include "graph/passes/network/fuse.hpp"
#include "graph/passes/network/inference_form.hpp"
#include "graph/passes/network/prune.hpp"
#include "graph/passes/stages/find_stages.hpp"
#include "graph/passes/stages/partition.hpp"
#include "graph/passes/stages/stage_assignment.hpp"
#include "graph/plan/replica_ipus.hpp"
#include "graph/values/printable.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// Returns the network that training or inference computes.
Graph form_of(const Graph& model, bool training) {
  if (!training) return inference_form(model);
  Graph graph = model;
  graph.loss = final_loss(model);
  return graph;
}

void expect_results(const Graph& model, bool training) {
  const auto refuse = [&](const std::string& text) {
    throw Error(Errc::invalid_model, "model " + quoted_text(model.name) + ": " + text);
  };
  if (!training && model.outputs.empty()) refuse("has no output, and inference needs one");
  for (const Output& output : model.outputs)
    if (model.value(output.value).producer == none)
      refuse("the output " + quoted_text(output.name) + " is not computed by any layer");
}

/// Returns `graph` without what neither the loss, an output nor a gradient sum needs.
Graph needed_part(const Graph& graph, bool training) {
  std::vector<ValueId> wanted;
  if (training) wanted.push_back(graph.loss);
  for (const Output& output : graph.outputs) wanted.push_back(output.value);
  for (const GradientAnchor& gradient : graph.gradients) wanted.push_back(gradient.value);
  return prune(graph, wanted);
}

/// The stages of a network whose host or blocks name them.
struct NamedStages {
  StageAssignment assignment = {};
  Phases phases = {};
};

/// Returns none if the compiler is to find the stages itself.
NamedStages named_stages(const Graph& graph, const CompileRequest& request) {
  if (request.automatic_stages > 0) return {};
  std::vector<StageRequest> stages = request.stages;
  if (stages.empty()) stages = find_stages(graph, request.stage_rule);
  if (request.phased) stages = grouped_into_phases(std::move(stages), *request.phased);
  NamedStages named{assign_stages(graph, stages, request.ipus, request.training)};
  if (request.phased) named.phases = assign_phases(named.assignment, *request.phased);
  return named;
}

/// Returns `graph` with the stages `named`, or with those into which the compiler cuts it. That
/// comes behind layouts, fusion and gradients, so that these do not depend on the cut.
TimedCut cut_into_stages(const Graph& graph, const NamedStages& named,
                         const CompileRequest& request) {
  if (request.automatic_stages == 0) return {{graph, named.assignment}};
  const PlanChoice choice =
      first_choice(request, named.phases, std::max(1, request.threads_per_ipu));
  return cut_automatically(graph,
                           {.stages = request.automatic_stages,
                            .ipus = request.ipus,
                            .measure = request.measure,
                            .memory = request.memory,
                            .recompute = choice.recompute},
                           choice.plan);
}

}  // namespace

StagedGraph staged_graph(const Graph& model, const CompileRequest& request, CompileClock& clock) {
  clock.begin("shapes");
  const Graph batched = with_batch(model, request.batch);
  const Graph formed = form_of(batched, request.training);
  expect_results(formed, request.training);
  const Graph anchored = with_anchors(formed, request.anchors, request.training);
  const Graph in_runs = in_runs_of_blocks(anchored, request.stage_rule);
  const Graph needed = needed_part(in_runs, request.training);
  const NamedStages named = named_stages(needed, request);

  clock.begin("layouts");
  const LayoutChoice layouts = choose_layouts(needed);
  const Graph fused = fuse(layouts.graph);

  clock.begin("gradients");
  const Graph whole = request.training ? differentiate(fused, request.gradient_sum) : fused;
  const Graph lean = needed_part(whole, request.training);

  clock.begin("stages");
  auto [staged, seconds] = cut_into_stages(lean, named, request);

  clock.begin("partition");
  Partition parts = partition(staged.graph, staged.assignment);
  return {.graph = std::move(staged.graph),
          .assignment = std::move(staged.assignment),
          .partition = std::move(parts),
          .phases = named.phases,
          .seconds = std::move(seconds),
          .layout_conversions = layouts.conversions,
          .lane_nodes = layouts.lane_nodes};
}

std::int32_t used_ipus(const StagedGraph& staged, std::int64_t replicas) {
  std::vector<std::int32_t> ipus;
  for (const StagePlacement& stage : staged.assignment.stages) ipus.push_back(stage.ipu);
  return used_ipus(ipus, replicas);
}

}  // namespace penstock::graph
