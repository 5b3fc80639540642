#include "graph/compile/automatic_stages.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "graph/compile/ipu_memory_refusal.hpp"
#include "graph/compile/offload_choices.hpp"
#include "graph/compile/piece_memory.hpp"
#include "graph/compile/remedies.hpp"
#include "graph/ir/op.hpp"
#include "graph/passes/memory/recompute.hpp"
#include "graph/passes/stages/balance.hpp"
#include "graph/passes/stages/partition.hpp"
#include "graph/passes/stages/pieces.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// Times differ by about this share from one measurement to the next.
constexpr double tolerance = 0.02;

/// Returns the plan in which one thread runs all of `graph`, with an instruction for each node.
Plan in_one_stage(const Graph& graph, const std::vector<Piece>& pieces, PlanRequest request) {
  request.threads_per_ipu = 1;
  request.offload = {};
  const CutGraph one = cut(graph, pieces, std::vector<std::int32_t>{0}, {});
  return build_plan(one.graph, one.assignment, partition(one.graph, one.assignment), request);
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

/// Returns how many stages there will be: as many as asked for, or in inference, which may have
/// fewer layers, as many as there can be.
std::int32_t count_stages(const std::vector<Piece>& pieces, std::int32_t asked, bool training) {
  const auto most = static_cast<std::int32_t>(pieces.size());
  if (asked <= most || !training) return std::min(asked, most);
  throw Error(Errc::invalid_topology, "the model cannot be cut into " + std::to_string(asked) +
                                          " stages: it has " + std::to_string(most) +
                                          " pieces that can be told apart; ask for fewer");
}

void check_ipus(const CutRequest& request) {
  const auto& ipus = request.ipus;
  if (!ipus.empty() && std::ssize(ipus) != request.stages)
    throw Error(Errc::invalid_topology, "options.topology.ipus: expected one IPU per stage, " +
                                            std::to_string(request.stages) + " (automatic), got " +
                                            std::to_string(ipus.size()));
}

std::string left_out(std::int32_t asked, std::int32_t stages) {
  return "in inference the model has " + std::to_string(stages) + " pieces; " +
         std::to_string(asked - stages) + " of " + std::to_string(asked) +
         " stages have nothing to compute and are left out";
}

class Cutting {
 public:
  Cutting(const Graph& graph, const CutRequest& request, const PlanRequest& plan)
      : graph_(graph),
        request_(request),
        plan_(plan),
        pieces_(find_pieces(graph)),
        stages_(count_stages(pieces_, request.stages, plan.training)),
        recomputed_(recomputed_stages(request.recompute, stages_)) {}

  TimedCut run() {
    const Plan one_stage = in_one_stage(graph_, pieces_, plan_);
    note_times(request_.measure ? request_.measure(one_stage) : estimated(one_stage));
    make_problem();
    const auto begins = balanced();
    TimedCut result{cut(graph_, pieces_, begins, request_.ipus)};
    if (request_.measure) result.seconds = costs_of_stages(result.cut);
    if (stages_ < request_.stages)
      result.cut.assignment.warnings.push_back(left_out(request_.stages, stages_));
    return result;
  }

 private:
  using Begins = std::optional<std::vector<std::int32_t>>;

  /// Notes the times of instructions, which are in the graph's order.
  void note_times(const InstructionTimes& times) {
    std::size_t forward = 0, backward = 0;
    for (const Node& node : graph_.nodes)
      times_.push_back(node.backward ? times.backward[backward++] : times.forward[forward++]);
  }

  void make_problem() {
    problem_ = {.costs = std::vector<double>(pieces_.size()),
                .extra_costs = std::vector<double>(pieces_.size()),
                .dearer = recomputed_,
                .stages = stages_,
                .tolerance = tolerance};
    for (const Piece& piece : pieces_) problem_.bytes_before.push_back(piece.bytes_before);
    const auto piece_of = piece_of_nodes(graph_, pieces_);
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id)
      problem_.costs[index(piece_of[id])] += times_[id];
    for (const NodeId repeated : repeated_in_one_stage())
      problem_.extra_costs[index(piece_of[index(repeated)])] += times_[index(repeated)];
  }

  /// Returns what a stage of everything would repeat, which is a little more than stages that keep
  /// what they send.
  std::vector<NodeId> repeated_in_one_stage() const {
    const CutGraph one = cut(graph_, pieces_, std::vector<std::int32_t>{0}, {});
    const Partition parts = partition(one.graph, one.assignment);
    std::vector<NodeId> repeated;
    for (const Node& node : recompute(one.graph, parts, {true}).graph.nodes)
      if (node.recomputed) repeated.push_back(node.forward_of);
    return repeated;
  }

  Begins balance_within(PieceMemory& memory, std::int64_t bytes) const {
    Balance problem = problem_;
    problem.fits = [&memory, bytes](std::int32_t first, std::int32_t last, std::int32_t stage) {
      return memory.bytes(first, last, stage) <= bytes;
    };
    return balance(problem);
  }

  /// Returns the least memory per IPU, up to one per cent, to which some cut keeps.
  std::int64_t least_memory(PieceMemory& memory) const {
    std::int64_t enough = request_.memory.bytes;
    while (!balance_within(memory, enough)) enough *= 2;
    for (std::int64_t low = enough / 2; enough - low > enough / 100 + 1;) {
      const std::int64_t middle = low + (enough - low) / 2;
      (balance_within(memory, middle) ? enough : low) = middle;
    }
    return enough;
  }

  std::vector<std::int32_t> balanced() const {
    if (request_.memory.bytes == 0) return *balance(problem_);
    PieceMemory memory(graph_, pieces_, recomputed_, plan_, request_.memory);
    if (const auto begins = balance_within(memory, request_.memory.bytes)) return *begins;
    refuse(memory);
  }

  [[noreturn]] void refuse(PieceMemory& memory) const {
    throw IpuMemoryRefusal(
        {.lack = "no cut into " + std::to_string(stages_) + " stages keeps to " +
                 size_text(request_.memory.bytes) + " per IPU; " + size_text(least_memory(memory)) +
                 " would do",
         .remedies = remedies(),
         .last_remedy = "more stages; or smaller micro-batches; or a schedule with fewer of them "
                        "in flight"});
  }

  /// Returns options each of which lets some cut keep to the memory.
  std::vector<Remedy> remedies() const {
    std::vector<Remedy> found = offloads_that_help();
    MemoryBudget divided = request_.memory;
    divided.shard_state.on = true;
    if (!request_.memory.shard_state.on && divided.replicas > 1 &&
        helps(recomputed_, plan_, divided))
      found.push_back(division_of_state());
    const auto all = recomputed_stages({.on = plan_.training}, stages_);
    if (helps(all, plan_, request_.memory)) found.push_back(recomputation(request_.recompute));
    return found;
  }

  /// Returns single classes of tensors in the host store, or all together if none is enough.
  std::vector<Remedy> offloads_that_help() const {
    const auto choices = offload_choices(plan_.offload, plan_.training);
    std::vector<Remedy> found;
    if (choices.empty() || !helps(choices.back())) return found;
    for (const OffloadChoice& choice : choices)
      if (choice.classes == 1 && &choice != &choices.back() && helps(choice))
        found.push_back(choice.remedy);
    if (found.empty()) found.push_back(choices.back().remedy);
    return found;
  }

  bool helps(const OffloadChoice& choice) const {
    PlanRequest plan = plan_;
    plan.offload = choice.offload;
    MemoryBudget memory = request_.memory;
    memory.offload_state = choice.offload.optimizer_state;
    return helps(recomputed_, plan, memory);
  }

  bool helps(const std::vector<bool>& recomputed, const PlanRequest& plan,
             const MemoryBudget& budget) const {
    PieceMemory memory(graph_, pieces_, recomputed, plan, budget);
    return balance_within(memory, request_.memory.bytes).has_value();
  }

  std::vector<StageCost> costs_of_stages(const CutGraph& cut) const {
    std::vector<StageCost> costs(index(stages_), {.forward = 0, .backward = 0});
    const Partition parts = partition(cut.graph, cut.assignment);
    const Graph all = recompute(cut.graph, parts, recomputed_).graph;
    for (std::size_t id = 0; id < all.nodes.size(); ++id) {
      const Node& node = all.nodes[id];
      StageCost& cost = costs[index(cut.assignment.of(node))];
      (node.backward ? cost.backward : cost.forward) +=
          times_[node.recomputed ? index(node.forward_of) : id];
    }
    return costs;
  }

  const Graph& graph_;
  const CutRequest& request_;
  const PlanRequest& plan_;
  std::vector<Piece> pieces_;
  std::int32_t stages_;
  std::vector<bool> recomputed_;  // Says of each stage whether its activations are recomputed.
  std::vector<double> times_;     // Has the seconds of each node, by NodeId.
  Balance problem_;
};

}  // namespace

TimedCut cut_automatically(const Graph& graph, const CutRequest& request, const PlanRequest& plan) {
  check_ipus(request);
  return Cutting(graph, request, plan).run();
}

}  // namespace penstock::graph
