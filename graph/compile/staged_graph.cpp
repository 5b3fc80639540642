#include "graph/compile/staged_graph.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "graph/compile/plan_choice.hpp"
#include "graph/passes/network/anchors.hpp"
#include "graph/passes/network/choose_layouts.hpp"
#include "graph/passes/network/differentiate.hpp"
#include "graph/passes/network/fuse.hpp"
#include "graph/passes/network/fuse_exactly.hpp"
#include "graph/passes/network/model_form.hpp"
#include "graph/passes/network/prune.hpp"
#include "graph/passes/stages/find_stages.hpp"
#include "graph/passes/stages/partition.hpp"
#include "graph/passes/stages/stage_assignment.hpp"
#include "graph/plan/replica_ipus.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// Returns the network that training or inference computes.
Graph form_of(const Graph& model, bool training) {
  return training ? training_form(model) : inference_form(model);
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

/// Returns `graph` with only what the loss, an output or a gradient needs.
Graph needed_graph(const Graph& graph, bool training) {
  std::vector<ValueId> wanted;
  if (training) wanted.push_back(graph.loss);
  for (const Output& output : graph.outputs) wanted.push_back(output.value);
  for (const GradientAnchor& gradient : graph.gradients) wanted.push_back(gradient.value);
  return prune(graph, wanted);
}

/// A Stages is a graph, with the stages to which its blocks belong.
struct Stages {
  Graph graph = {};
  StageAssignment assignment = {};
  Phases phases = {};
  std::vector<StageCost> seconds = {};
};

/// Returns `graph` with the stages that the host or the blocks name. Error texts about them name
/// nodes of `layers`, which is the network as the host knows it.
Stages named_stages(Graph graph, const Graph& layers, const CompileRequest& request) {
  const Topology& topology = request.options.topology;
  std::vector<StageRequest> requests = request.stages;
  if (requests.empty()) requests = find_stages(layers, topology.stage_rule);
  if (request.phased) requests = grouped_into_phases(std::move(requests), *request.phased);
  Stages stages{std::move(graph), assign_stages(layers, requests, topology.ipus, request.training)};
  if (request.phased) stages.phases = assign_phases(stages.assignment, *request.phased);
  return stages;
}

/// Returns `graph` with the stages into which the compiler cuts it.
Stages balanced_stages(const Graph& graph, const CompileRequest& request) {
  const PlanChoice choice = first_choice(request, {}, std::max(1, request.threads_per_ipu));
  TimedCut timed = cut_automatically(graph,
                                     {.stages = request.options.topology.automatic_stages,
                                      .ipus = request.options.topology.ipus,
                                      .measure = request.measure,
                                      .memory = request.memory,
                                      .recompute = choice.recompute,
                                      .prepare = choice.prepare},
                                     choice.plan);
  return {.graph = std::move(timed.cut.graph),
          .assignment = std::move(timed.cut.assignment),
          .seconds = std::move(timed.seconds)};
}

}  // namespace

StagedGraph staged_graph(const Graph& model, const CompileRequest& request, CompileClock& clock) {
  clock.begin("shapes");
  Graph formed = form_of(with_batch(model, request.batch), request.training);
  expect_results(formed, request.training);
  Graph anchored = with_anchors(std::move(formed), request.anchors, request.training);
  const Graph in_runs = in_runs_of_blocks(std::move(anchored), request.options.topology.stage_rule);
  const Graph layers = needed_graph(in_runs, request.training);

  clock.begin("layouts");
  const LayoutChoice layouts = choose_layouts(layers, request.training);
  Graph fused = fuse(layouts.graph);
  fused =
      request.training ? fuse_for_training(std::move(fused)) : fuse_for_inference(std::move(fused));

  clock.begin("gradients");
  const Graph whole =
      request.training ? differentiate(std::move(fused), request.gradient_sum) : std::move(fused);
  Graph lean = needed_graph(whole, request.training);

  // Stages are chosen after layouts, fusion and gradients, so that these do not depend on where the
  // graph is cut.
  clock.begin("stages");
  Stages stages = request.options.topology.automatic_stages > 0
                      ? balanced_stages(lean, request)
                      : named_stages(std::move(lean), layers, request);

  clock.begin("partition");
  Partition parts = partition(stages.graph, stages.assignment);
  return {.graph = std::move(stages.graph),
          .assignment = std::move(stages.assignment),
          .partition = std::move(parts),
          .phases = std::move(stages.phases),
          .seconds = std::move(stages.seconds),
          .layout_conversions = layouts.conversions,
          .lane_nodes = layouts.lane_nodes};
}

std::int32_t used_ipus(const StagedGraph& staged, std::int64_t replicas) {
  std::vector<std::int32_t> ipus;
  for (const StagePlacement& stage : staged.assignment.stages) ipus.push_back(stage.ipu);
  return used_ipus(ipus, replicas);
}

}  // namespace penstock::graph
