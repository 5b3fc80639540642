#include "graph/compile/remedies.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "graph/plan/schedules/schedules.hpp"

namespace penstock::graph {

Remedy recomputation(const RecomputeRequest& request) {
  if (request.on)
    return {.text = "recomputation of every stage", .turned_off = {Option::recompute_stages}};
  return {.text = "recomputation", .turned_on = {Option::recompute}};
}

Remedy division_of_state() {
  return {.text = "the optimizer's state divided among the replicas",
          .turned_on = {Option::shard_optimizer_state}};
}

void Remedies::try_plan(const Remedy& remedy, const Plan& plan, const MemoryBudget& budget,
                        int classes) {
  if (add(remedy, plan, budget)) enough_ = std::max(enough_, classes);
}

void Remedies::try_shards() {
  if (budget_.shard_state.on) return;
  MemoryBudget divided = budget_;
  divided.shard_state.on = true;
  add(division_of_state(), failed_, divided);
}

void Remedies::try_schedules() {
  // In phased execution, another schedule would not change how many micro-batches are in flight.
  if (!failed_.phases.none()) return;
  for (const Schedule* schedule : all_schedules())
    add({.text = "the schedule " + std::string(schedule->name), .turned_on = {Option::schedule}},
        failed_, budget_, schedule);
}

void Remedies::try_batch(const Plan& plan) {
  const std::string samples =
      std::to_string(plan.batch) + (plan.batch == 1 ? " sample" : " samples");
  add({.text = "micro-batches of " + samples + " instead of " + std::to_string(failed_.batch),
       .turned_on = {Option::batch}},
      plan, budget_);
}

/// Adds `remedy` if `plan` fits into the memory of `budget`, and returns whether it fits. The
/// consequence of the remedy says how much memory the fullest IPU needs.
bool Remedies::add(Remedy remedy, const Plan& plan, const MemoryBudget& budget,
                   const Schedule* schedule) {
  const auto needs = ipu_needs(plan, replicas_, budget, schedule);
  std::int64_t most = 0;
  for (const auto& [ipu, need] : needs) most = std::max(most, need.total());
  if (most > budget.bytes) return false;
  remedy.consequence =
      "which needs " + size_text(most) + (needs.size() > 1 ? " on the fullest IPU" : "");
  found_.push_back(std::move(remedy));
  return true;
}

std::optional<std::int64_t> BatchSearch::next() const {
  if (too_many_ - fitting_ <= 1) return std::nullopt;
  return fitting_ + (too_many_ - fitting_) / 2;
}

void BatchSearch::note(bool fits) {
  (fits ? fitting_ : too_many_) = *next();
}

}  // namespace penstock::graph
