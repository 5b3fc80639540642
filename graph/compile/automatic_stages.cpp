#include "graph/compile/automatic_stages.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "graph/compile/atom_memory.hpp"
#include "graph/compile/balance.hpp"
#include "graph/compile/ipu_memory_refusal.hpp"
#include "graph/compile/offload_choices.hpp"
#include "graph/compile/remedies.hpp"
#include "graph/ir/op.hpp"
#include "graph/passes/memory/prepare.hpp"
#include "graph/passes/memory/recompute.hpp"
#include "graph/passes/stages/atoms.hpp"
#include "graph/passes/stages/partition.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// The same measurement, made twice, differs by about this share.
constexpr double tolerance = 0.02;

/// A OneStage is a plan of one stage, and the nodes of the stage, which are in the order of the
/// instructions of its programs.
struct OneStage {
  Plan plan = {};
  StageGraph nodes = {};
};

/// Returns the plan in which one thread runs all of `graph`, with an instruction for each node. If
/// `prepares` is true, what depends on weights alone is computed before the forward.
OneStage in_one_stage(const Graph& graph, const std::vector<Atom>& atoms, PlanRequest request,
                      bool prepares) {
  request.threads_per_ipu = 1;
  request.offload = {};
  const CutGraph one = cut(graph, atoms, std::vector<std::int32_t>{0}, {});
  Prepared whole{one.graph, partition(one.graph, one.assignment)};
  if (prepares) whole = prepare(std::move(whole.graph), std::move(whole.partition), {});
  return {build_plan(whole.graph, one.assignment, whole.partition, request),
          whole.partition.stages[0]};
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

/// Returns how many stages there will be: `asked`, but in inference, which may have fewer layers
/// than training, no more than there are atoms.
std::int32_t count_stages(const std::vector<Atom>& atoms, std::int32_t asked, bool training) {
  const auto most = static_cast<std::int32_t>(atoms.size());
  if (asked <= most || !training) return std::min(asked, most);
  throw Error(Errc::invalid_topology, "the model cannot be cut into " + std::to_string(asked) +
                                          " stages: at most " + std::to_string(most) +
                                          " are possible; ask for fewer");
}

void check_ipus(const CutRequest& request) {
  const auto& ipus = request.ipus;
  if (!ipus.empty() && std::ssize(ipus) != request.stages)
    throw Error(Errc::invalid_topology, "options.topology.ipus: expected one IPU per stage, " +
                                            std::to_string(request.stages) + " (automatic), got " +
                                            std::to_string(ipus.size()));
}

std::string left_out(std::int32_t asked, std::int32_t stages) {
  return "in inference the model can have at most " + std::to_string(stages) + " stages; " +
         std::to_string(asked - stages) + " of " + std::to_string(asked) +
         " have nothing to compute and are left out";
}

/// Returns the seconds of each node of `graph`, by NodeId. A node that runs before the forward
/// takes none. `instructions` has the seconds of the instructions of the programs of `stage`.
std::vector<double> times_of_nodes(const Graph& graph, const StageGraph& stage,
                                   const InstructionTimes& instructions) {
  std::vector<double> times(graph.nodes.size());
  for (std::size_t i = 0; i < stage.forward.size(); ++i)
    times[index(stage.forward[i])] = instructions.forward[i];
  for (std::size_t i = 0; i < stage.backward.size(); ++i)
    times[index(stage.backward[i])] = instructions.backward[i];
  return times;
}

/// Returns the forward nodes that the backward would repeat if all nodes were one stage. Several
/// stages repeat a little less, because they keep the values that they send.
std::vector<NodeId> repeated_in_one_stage(const Graph& graph, const std::vector<Atom>& atoms) {
  const CutGraph one = cut(graph, atoms, std::vector<std::int32_t>{0}, {});
  const Partition parts = partition(one.graph, one.assignment);
  std::vector<NodeId> repeated;
  for (const Node& node : recompute(one.graph, parts, {true}).graph.nodes)
    if (node.recomputed) repeated.push_back(node.forward_of);
  return repeated;
}

/// A Cutting says which graph is cut, and into which stages.
struct Cutting {
  const Graph& graph;
  const std::vector<Atom>& atoms;
  /// This says of each stage whether its activations are recomputed.
  std::vector<bool> recomputed;
  const PlanRequest& plan;
  const MemoryBudget& memory;

  std::int32_t stages() const { return static_cast<std::int32_t>(recomputed.size()); }
};

/// Returns the problem that balance() is to solve. `times` has the seconds of each node.
Balance problem_of(const Cutting& cutting, const std::vector<double>& times) {
  const auto& [graph, atoms, recomputed, plan, memory] = cutting;
  Balance problem{.costs = std::vector<double>(atoms.size()),
                  .extra_costs = std::vector<double>(atoms.size()),
                  .dearer = recomputed,
                  .stages = cutting.stages(),
                  .tolerance = tolerance};
  for (const Atom& atom : atoms) problem.bytes_before.push_back(atom.bytes_before);
  const auto atom_of = atom_of_nodes(graph, atoms);
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)
    problem.costs[index(atom_of[id])] += times[id];
  for (const NodeId repeated : repeated_in_one_stage(graph, atoms))
    problem.extra_costs[index(atom_of[index(repeated)])] += times[index(repeated)];
  return problem;
}

AtomMemory memory_of(const Cutting& cutting) {
  return {cutting.graph, cutting.atoms, cutting.recomputed, cutting.plan, cutting.memory};
}

/// Returns the best cut in which no stage needs more than `bytes` bytes, or nothing if there is no
/// such cut.
std::optional<std::vector<std::int32_t>> balance_within(Balance problem, AtomMemory& memory,
                                                        std::int64_t bytes) {
  problem.fits = [&memory, bytes](std::int32_t first, std::int32_t last, std::int32_t stage) {
    return memory.bytes(first, last, stage) <= bytes;
  };
  return balance(problem);
}

/// Returns how many bytes per IPU the most frugal cut needs, or up to one per cent more. No cut is
/// possible with `too_little` bytes.
std::int64_t least_memory(const Balance& problem, AtomMemory& memory, std::int64_t too_little) {
  std::int64_t enough = too_little;
  while (!balance_within(problem, memory, enough)) enough *= 2;
  for (std::int64_t low = enough / 2; enough - low > enough / 100 + 1;) {
    const std::int64_t middle = low + (enough - low) / 2;
    (balance_within(problem, memory, middle) ? enough : low) = middle;
  }
  return enough;
}

/// Returns whether there is a cut of `changed` that fits into its memory.
bool helps(const Balance& problem, const Cutting& changed) {
  AtomMemory memory = memory_of(changed);
  return balance_within(problem, memory, changed.memory.bytes).has_value();
}

bool helps(const Balance& problem, const Cutting& cutting, const OffloadChoice& choice) {
  PlanRequest plan = cutting.plan;
  plan.offload = choice.offload;
  MemoryBudget memory = cutting.memory;
  memory.offload_state = choice.offload.optimizer_state;
  return helps(problem, {cutting.graph, cutting.atoms, cutting.recomputed, plan, memory});
}

/// Returns the remedies that each keep one class of tensors in the host store so that some cut fits
/// into the memory. If no class is enough by itself, returns the remedy that keeps all classes
/// there, or nothing if that is not enough either.
std::vector<Remedy> offloads_that_help(const Balance& problem, const Cutting& cutting) {
  const auto choices = offload_choices(cutting.plan.offload, cutting.plan.training);
  std::vector<Remedy> found;
  if (choices.empty() || !helps(problem, cutting, choices.back())) return found;
  for (const OffloadChoice& choice : choices)
    if (choice.classes == 1 && &choice != &choices.back() && helps(problem, cutting, choice))
      found.push_back(choice.remedy);
  if (found.empty()) found.push_back(choices.back().remedy);
  return found;
}

/// Returns the remedies, each of which is enough for some cut to fit into the memory. `request`
/// says which stages of `cutting` recompute.
std::vector<Remedy> remedies_for(const Balance& problem, const Cutting& cutting,
                                 const RecomputeRequest& request) {
  const auto& [graph, atoms, recomputed, plan, memory] = cutting;
  std::vector<Remedy> found = offloads_that_help(problem, cutting);
  MemoryBudget divided = memory;
  divided.shard_state.on = true;
  if (!memory.shard_state.on && divided.replicas > 1 &&
      helps(problem, {graph, atoms, recomputed, plan, divided}))
    found.push_back(division_of_state());
  const std::vector<bool> all = recomputed_stages({.on = plan.training}, cutting.stages());
  if (helps(problem, {graph, atoms, all, plan, memory})) found.push_back(recomputation(request));
  return found;
}

IpuMemoryRefusal refusal_of(const Balance& problem, const Cutting& cutting, AtomMemory& memory,
                            const RecomputeRequest& recompute) {
  const std::int64_t bytes = cutting.memory.bytes;
  return IpuMemoryRefusal(
      {.lack = "no cut into " + std::to_string(cutting.stages()) + " stages keeps to " +
               size_text(bytes) + " per IPU; " + size_text(least_memory(problem, memory, bytes)) +
               " would do",
       .remedies = remedies_for(problem, cutting, recompute),
       .last_remedy = "more stages; or smaller micro-batches; or a schedule with fewer of them "
                      "in flight"});
}

/// Returns the first atom of each stage in the best cut that fits into the memory.
/// @throws IpuMemoryRefusal if no cut fits.
std::vector<std::int32_t> best_begins(const Balance& problem, const Cutting& cutting,
                                      const RecomputeRequest& recompute) {
  if (cutting.memory.bytes == 0) return *balance(problem);
  AtomMemory memory = memory_of(cutting);
  if (const auto begins = balance_within(problem, memory, cutting.memory.bytes)) return *begins;
  throw refusal_of(problem, cutting, memory, recompute);
}

/// Returns the seconds of each stage, by the seconds of its nodes, `times`.
std::vector<StageCost> costs_of_stages(const CutGraph& cut, const std::vector<bool>& recomputed,
                                       const std::vector<double>& times) {
  std::vector<StageCost> costs(recomputed.size(), {.forward = 0, .backward = 0});
  const Partition parts = partition(cut.graph, cut.assignment);
  const Graph all = recompute(cut.graph, parts, recomputed).graph;
  for (std::size_t id = 0; id < all.nodes.size(); ++id) {
    const Node& node = all.nodes[id];
    StageCost& cost = costs[index(cut.assignment.of(node))];
    (node.backward ? cost.backward : cost.forward) +=
        times[node.recomputed ? index(node.forward_of) : id];
  }
  return costs;
}

}  // namespace

TimedCut cut_automatically(const Graph& graph, const CutRequest& request, const PlanRequest& plan) {
  check_ipus(request);
  const std::vector<Atom> atoms = find_atoms(graph);
  const std::int32_t stages = count_stages(atoms, request.stages, plan.training);
  const OneStage one = in_one_stage(graph, atoms, plan, request.prepare);
  const std::vector<double> times = times_of_nodes(
      graph, one.nodes, request.measure ? request.measure(one.plan) : estimated(one.plan));

  const Cutting cutting{graph, atoms, recomputed_stages(request.recompute, stages), plan,
                        request.memory};
  const Balance problem = problem_of(cutting, times);
  TimedCut result{
      cut(graph, atoms, best_begins(problem, cutting, request.recompute), request.ipus)};
  if (request.measure) result.seconds = costs_of_stages(result.cut, cutting.recomputed, times);
  if (stages < request.stages)
    result.cut.assignment.warnings.push_back(left_out(request.stages, stages));
  return result;
}

}  // namespace penstock::graph
