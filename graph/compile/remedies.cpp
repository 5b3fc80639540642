#include "graph/compile/remedies.hpp"

#include <algorithm>

#include "graph/plan/schedules/schedules.hpp"

namespace penstock::graph {

void Remedies::try_plan(const std::string& name, const Plan& plan, const MemoryBudget& budget,
                        int classes) {
  if (add(name, plan, budget)) enough_ = std::max(enough_, classes);
}

void Remedies::try_shards() {
  if (budget_.shard_state.on) return;
  MemoryBudget divided = budget_;
  divided.shard_state.on = true;
  add(remedy_of_shards, failed_, divided);
}

void Remedies::try_schedules() {
  if (!failed_.phases.none()) return;  // A turn decides what is in flight.
  for (const Schedule* schedule : all_schedules())
    add("the schedule " + std::string(schedule->name), failed_, budget_, schedule);
}

void Remedies::try_batch(const Plan& plan) {
  const std::string samples =
      std::to_string(plan.batch) + (plan.batch == 1 ? " sample" : " samples");
  add("micro-batches of " + samples + " instead of " + std::to_string(failed_.batch), plan,
      budget_);
}

/// Adds the text, which has the bytes of the IPU that needs most.
bool Remedies::add(const std::string& name, const Plan& plan, const MemoryBudget& budget,
                   const Schedule* schedule) {
  const auto needs = ipu_needs(plan, replicas_, budget, schedule);
  std::int64_t most = 0;
  for (const auto& [ipu, need] : needs) most = std::max(most, need.total());
  if (most > budget.bytes) return false;
  texts_.push_back(name + ", which needs " + size_text(most) +
                   (needs.size() > 1 ? " on the fullest IPU" : ""));
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
