#include "graph/compile/fitting_plan.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "graph/compile/build_plan.hpp"
#include "graph/compile/compile_clock.hpp"
#include "graph/compile/ipu_memory_refusal.hpp"
#include "graph/compile/offload_choices.hpp"
#include "graph/compile/plan_choice.hpp"
#include "graph/compile/remedies.hpp"
#include "graph/passes/memory/prepare.hpp"
#include "graph/passes/memory/recompute.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

Plan plan_of(const StagedGraph& staged, const PlanChoice& choice) {
  const auto stages = static_cast<std::int32_t>(staged.partition.stages.size());
  const Recomputed all =
      recompute(staged.graph, staged.partition, recomputed_stages(choice.recompute, stages));
  if (!choice.prepare) return build_plan(all.graph, staged.assignment, all.partition, choice.plan);
  const Prepared prepared = prepare(all.graph, all.partition, choice.plan.offload);
  return build_plan(prepared.graph, staged.assignment, prepared.partition, choice.plan);
}

/// Returns the choice that `request` asks for, but without anything that is prepared before the
/// forward, which takes memory only to save time.
PlanChoice frugal_choice(const CompileRequest& request, const Phases& phases,
                         std::int32_t threads_per_ipu) {
  PlanChoice choice = first_choice(request, phases, threads_per_ipu);
  choice.prepare = false;
  return choice;
}

bool fits(const Plan& plan, const CompileRequest& request) {
  return fits(plan, request.replicas, request.memory);
}

std::int32_t threads_per_ipu(const StagedGraph& staged, const CompileRequest& request) {
  if (request.threads_per_ipu > 0) return request.threads_per_ipu;
  const std::int32_t threads =
      request.threads > 0 ? std::min(request.cores, request.threads) : request.cores;
  return std::max(1, threads / used_ipus(staged, request.replicas));
}

/// An Alternative is another plan for the same stages, which may need less memory.
struct Alternative {
  Remedy remedy = {};
  PlanChoice choice = {};
  /// If this is true, the optimizer's state is in the host store.
  bool offload_state = false;
  /// The host store has this many more classes of tensors than in the plan that does not fit.
  int classes = 0;
};

std::vector<Alternative> alternatives_to(const PlanChoice& first) {
  std::vector<Alternative> result;
  const auto add = [&](const Remedy& remedy, const auto& change) -> Alternative& {
    result.push_back({.remedy = remedy, .choice = first});
    change(result.back().choice);
    return result.back();
  };
  for (const OffloadChoice& offload :
       offload_choices(first.plan.offload, first.plan.training, !first.plan.phases.none())) {
    Alternative& added =
        add(offload.remedy, [&](PlanChoice& choice) { choice.plan.offload = offload.offload; });
    added.offload_state = offload.offload.optimizer_state.on;
    added.classes = offload.classes;
  }
  if (first.plan.phases.turn > 1)
    add({.text = "a turn for each micro-batch", .turned_off = {Option::batch_serial}},
        [](PlanChoice& choice) { choice.plan.phases.turn = 1; });
  if (first.plan.training)
    add(recomputation(first.recompute),
        [](PlanChoice& choice) { choice.recompute = {.on = true}; });
  return result;
}

/// Returns the plan for `samples` samples per micro-batch, or nothing if the model refuses that
/// number: a model that mixes its samples may accept certain numbers only.
std::optional<Plan> plan_of_batch(const Graph& model, CompileRequest request, std::int32_t threads,
                                  std::int64_t samples) {
  request.batch = samples;
  request.progress = {};
  try {
    CompileClock nobody_looks(request.progress);
    const StagedGraph staged = staged_graph(model, request, nobody_looks);
    return plan_of(staged, frugal_choice(request, staged.phases, threads));
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Returns the plan for the largest micro-batch that was tried and fits, or nothing if none fits.
/// For automatic stages, returns nothing, because with another number of samples the compiler would
/// cut the model in other places.
std::optional<Plan> plan_of_fewer_samples(const Graph& model, const CompileRequest& request,
                                          std::int32_t threads) {
  std::optional<Plan> largest;
  if (request.options.topology.automatic_stages > 0) return largest;
  BatchSearch search(request.batch);
  while (const auto samples = search.next()) {
    std::optional<Plan> plan = plan_of_batch(model, request, threads, *samples);
    const bool found = plan && fits(*plan, request);
    if (found) largest = std::move(plan);
    search.note(found);
  }
  return largest;
}

/// Returns the remedies for `plan`, which was made by `choice` and does not fit into the memory.
std::vector<Remedy> remedies_for(const Plan& plan, const PlanChoice& choice, const Graph& model,
                                 const StagedGraph& staged, const CompileRequest& request) {
  Remedies remedies(plan, request.replicas, request.memory);
  for (const Alternative& other : alternatives_to(choice)) {
    if (!remedies.is_wanted(other.classes)) continue;
    MemoryBudget budget = request.memory;
    budget.offload_state.on |= other.offload_state;
    remedies.try_plan(other.remedy, plan_of(staged, other.choice), budget, other.classes);
  }
  remedies.try_shards();
  remedies.try_schedules();
  if (const auto fewer = plan_of_fewer_samples(model, request, choice.plan.threads_per_ipu))
    remedies.try_batch(*fewer);
  return remedies.found();
}

}  // namespace

Plan fitting_plan(const Graph& model, const StagedGraph& staged, const CompileRequest& request) {
  PlanChoice prepared = first_choice(request, staged.phases, threads_per_ipu(staged, request));
  PlanChoice choice = frugal_choice(request, staged.phases, prepared.plan.threads_per_ipu);
  std::int32_t& threads = choice.plan.threads_per_ipu;
  const std::int32_t least = request.threads_per_ipu > 0 ? threads : 1;
  for (;;) {
    if (prepared.prepare) {
      prepared.plan.threads_per_ipu = threads;
      if (Plan plan = plan_of(staged, prepared); fits(plan, request)) return plan;
    }
    Plan plan = plan_of(staged, choice);
    if (fits(plan, request)) return plan;
    if (threads == least)
      throw refusal_of(plan, request.replicas, request.memory,
                       remedies_for(plan, choice, model, staged, request));
    threads = std::max(least, threads / 2);
  }
}

}  // namespace penstock::graph
