#include "graph/automatic_stages.hpp"

#include <algorithm>
#include <string>

#include "graph/op.hpp"
#include "graph/passes/balance.hpp"
#include "graph/passes/partition.hpp"
#include "graph/passes/pieces.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// Times differ by about so much from one measurement to the next.
constexpr double tolerance = 0.02;

Plan in_one_stage(Graph graph, const std::vector<Piece>& pieces, const PlanRequest& request) {
  const StageAssignment assignment = cut(graph, pieces, std::vector<std::int32_t>{0}, {});
  return build_plan(graph, assignment, partition(graph, assignment), request);
}

InstructionTimes estimated(const Plan& plan) {
  const auto work = [](const Program& program) {
    std::vector<double> costs;
    for (const Instruction& instruction : program.instructions)
      costs.push_back(cost_of(instruction).work());
    return costs;
  };
  return {work(plan.stages[0].forward), work(plan.stages[0].backward)};
}

/// The times of instructions, which are in the graph's order, added up by piece.
std::vector<StageCost> costs_of(const Graph& graph, const std::vector<Piece>& pieces,
                                const InstructionTimes& times) {
  std::vector<StageCost> costs(pieces.size(), {.forward = 0, .backward = 0});
  const auto piece_of = piece_of_nodes(graph, pieces);
  std::size_t forward = 0, backward = 0;
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    StageCost& cost = costs[index(piece_of[id])];
    if (graph.nodes[id].backward)
      cost.backward += times.backward[backward++];
    else
      cost.forward += times.forward[forward++];
  }
  return costs;
}

Balance balance_of(const std::vector<Piece>& pieces, const std::vector<StageCost>& costs,
                   std::int32_t stages) {
  Balance problem{.stages = stages, .tolerance = tolerance};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    problem.costs.push_back(costs[i].forward + costs[i].backward);
    problem.bytes_before.push_back(pieces[i].bytes_before);
  }
  return problem;
}

std::vector<StageCost> costs_of_stages(const std::vector<StageCost>& pieces,
                                       const std::vector<std::int32_t>& begins) {
  std::vector<StageCost> stages;
  std::size_t next = 0;
  for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
    if (next < begins.size() && index(begins[next]) == piece) {
      stages.push_back({.forward = 0, .backward = 0});
      ++next;
    }
    stages.back().forward += pieces[piece].forward;
    stages.back().backward += pieces[piece].backward;
  }
  return stages;
}

void check_ipus(const CutRequest& request) {
  const auto& ipus = request.ipus;
  if (!ipus.empty() && std::ssize(ipus) != request.stages)
    throw Error(Errc::invalid_topology, "options.topology.ipus: expected one IPU per stage, " +
                                            std::to_string(request.stages) + " (automatic), got " +
                                            std::to_string(ipus.size()));
}

/// How many stages there will be: as many as asked for; in inference, which may have fewer layers,
/// as many as there can be.
std::int32_t count_stages(const std::vector<Piece>& pieces, std::int32_t asked, bool training) {
  const auto most = static_cast<std::int32_t>(pieces.size());
  if (asked <= most || !training) return std::min(asked, most);
  throw Error(Errc::invalid_topology, "the model cannot be cut into " + std::to_string(asked) +
                                          " stages: it has " + std::to_string(most) +
                                          " pieces that can be told apart; ask for fewer");
}

std::string left_out(std::int32_t asked, std::int32_t stages) {
  return "in inference the model has " + std::to_string(stages) + " pieces; " +
         std::to_string(asked - stages) + " of " + std::to_string(asked) +
         " stages have nothing to compute and are left out";
}

}  // namespace

AutomaticStages cut_automatically(Graph& graph, const CutRequest& request,
                                  const PlanRequest& plan) {
  check_ipus(request);
  const auto pieces = find_pieces(graph);
  const std::int32_t stages = count_stages(pieces, request.stages, plan.training);
  const Plan one_stage = in_one_stage(graph, pieces, plan);
  const auto costs =
      costs_of(graph, pieces, request.measure ? request.measure(one_stage) : estimated(one_stage));
  const auto begins = *balance(balance_of(pieces, costs, stages));
  AutomaticStages result{.assignment = cut(graph, pieces, begins, request.ipus)};
  if (request.measure) result.seconds = costs_of_stages(costs, begins);
  if (stages < request.stages)
    result.assignment.warnings.push_back(left_out(request.stages, stages));
  return result;
}

}  // namespace penstock::graph
