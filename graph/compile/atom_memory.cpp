#include "graph/compile/atom_memory.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "graph/passes/memory/recompute.hpp"
#include "graph/passes/stages/partition.hpp"
#include "graph/values/memory.hpp"

namespace penstock::graph {

AtomMemory::AtomMemory(const Graph& graph, const std::vector<Atom>& atoms,
                       std::vector<bool> recomputed, const PlanRequest& plan,
                       const MemoryBudget& budget)
    : graph_(graph),
      atoms_(atoms),
      recomputed_(std::move(recomputed)),
      plan_(plan),
      budget_(budget),
      atom_of_(atom_of_nodes(graph, atoms)) {}

std::int64_t AtomMemory::bytes(std::int32_t first, std::int32_t last, std::int32_t stage) {
  const bool recomputed = recomputed_[index(stage)];
  const auto [known, is_new] = known_.try_emplace({first, last, recomputed});
  if (is_new) known->second = needs_of(first, last, recomputed);
  const Needs& needs = known->second;
  std::int64_t bytes = needs.fixed + needs.micro_batch * in_flight(stage) + needs.unread;
  for (const SentBack& gradient : needs.sent_back)
    bytes += gradient.bytes * in_flight(std::max(0, stage - gradient.distance));
  return bytes;
}

/// Makes a plan of up to three stages: the atoms before `first`, the atoms [first, last), and the
/// atoms from `last` on. Returns what the stage of the atoms [first, last) needs.
AtomMemory::Needs AtomMemory::needs_of(std::int32_t first, std::int32_t last,
                                       bool recomputed) const {
  std::vector<std::int32_t> begins{0};
  if (first > 0) begins.push_back(first);
  const std::size_t last_stage = begins.size() - 1;
  if (last < std::ssize(atoms_)) begins.push_back(last);
  const CutGraph three = cut(graph_, atoms_, begins, {});
  std::vector<bool> repeats(begins.size());
  repeats[last_stage] = recomputed;
  const Recomputed all = recompute(three.graph, partition(three.graph, three.assignment), repeats);
  const Plan plan = build_plan(all.graph, three.assignment, all.partition, plan_);
  const StagePlan& stage = plan.stages[last_stage];
  const StateNeed state = state_need(plan, last_stage, budget_);
  return {.fixed = stage.parameter_bytes + stage.buffer_bytes + stage.host_parameter_bytes +
                   stage.accumulator_bytes + stage.kept_bytes +
                   std::max(stage.scratch_bytes, state.staging_bytes) + state.bytes,
          .micro_batch = micro_batch_bytes(stage),
          .unread = stage.output_bytes * (stage.output_slots - stage.in_flight),
          .sent_back = sent_back(all.partition, stage, first)};
}

std::vector<AtomMemory::SentBack> AtomMemory::sent_back(const Partition& partition,
                                                        const StagePlan& stage,
                                                        std::int32_t first) const {
  std::vector<SentBack> result;
  for (const std::int32_t edge : stage.backward_sends) {
    const ValueId value = partition.edges[index(edge)].value;
    if (value == none) continue;
    std::set<std::int32_t> receivers;
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id)
      if (atom_of_[id] < first && std::ranges::count(graph_.nodes[id].inputs, value) > 0)
        receivers.insert(atom_of_[id]);
    for (const std::int32_t receiver : receivers)
      result.push_back({aligned(graph_.type(value).bytes()), first - receiver});
  }
  return result;
}

std::int64_t AtomMemory::in_flight(std::int32_t stage) const {
  return most_in_flight(*plan_.schedule, stage, static_cast<std::int32_t>(recomputed_.size()),
                        plan_.window);
}

}  // namespace penstock::graph
