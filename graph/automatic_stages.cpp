#include "graph/automatic_stages.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "graph/op.hpp"
#include "graph/passes/balance.hpp"
#include "graph/passes/partition.hpp"
#include "graph/passes/pieces.hpp"
#include "graph/piece_memory.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// Times differ by about so much from one measurement to the next.
constexpr double tolerance = 0.02;

/// As one thread runs it.
Plan in_one_stage(Graph graph, const std::vector<Piece>& pieces, PlanRequest request) {
  request.threads_per_ipu = 1;
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

std::optional<std::vector<std::int32_t>> balance_within(Balance& problem, PieceMemory& memory,
                                                        std::int64_t bytes) {
  problem.fits = [&memory, bytes](std::int32_t first, std::int32_t last, std::int32_t stage) {
    return memory.bytes(first, last, stage) <= bytes;
  };
  return balance(problem);
}

/// The least memory per IPU, up to one per cent, that some cut keeps to.
std::int64_t least_memory(Balance& problem, PieceMemory& memory, std::int64_t too_little) {
  std::int64_t enough = too_little;
  while (!balance_within(problem, memory, enough)) enough *= 2;
  for (std::int64_t low = enough / 2; enough - low > enough / 100 + 1;) {
    const std::int64_t middle = low + (enough - low) / 2;
    (balance_within(problem, memory, middle) ? enough : low) = middle;
  }
  return enough;
}

std::vector<std::int32_t> balanced(Balance& problem, const MemoryBudget& budget,
                                   PieceMemory& memory) {
  if (budget.bytes == 0) return *balance(problem);
  if (const auto begins = balance_within(problem, memory, budget.bytes)) return *begins;
  throw Error(
      Errc::out_of_memory,
      "options.topology.ipu_memory_bytes: no cut into " + std::to_string(problem.stages) +
          " stages keeps to " + size_text(budget.bytes) + " per IPU; " +
          size_text(least_memory(problem, memory, budget.bytes)) +
          " would do; what would help: more stages; or smaller micro-batches; or a schedule "
          "with fewer of them in flight");
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
  Balance problem = balance_of(pieces, costs, stages);
  PieceMemory memory(graph, pieces, stages, plan, request.memory);
  const auto begins = balanced(problem, request.memory, memory);
  AutomaticStages result{.assignment = cut(graph, pieces, begins, request.ipus)};
  if (request.measure) result.seconds = costs_of_stages(costs, begins);
  if (stages < request.stages)
    result.assignment.warnings.push_back(left_out(request.stages, stages));
  return result;
}

}  // namespace penstock::graph
