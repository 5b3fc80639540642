// Remedies say what would make a plan fit that does not, each in the words of the refusal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/passes/memory/memory_budget.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// The cut into automatic stages offers the remedies of these names, too.
inline constexpr const char* remedy_of_recomputation = "recomputation";
inline constexpr const char* remedy_of_shards =
    "the optimizer's state divided among the replicas "
    "(options.training.sharding.optimizer_state)";

class Remedies {
 public:
  /// Takes the plan `failed`, which needs more than `budget`. Both outlive this object.
  Remedies(const Plan& failed, std::int64_t replicas, const MemoryBudget& budget)
      : failed_(failed), replicas_(replicas), budget_(budget) {}

  /// Returns whether it is worth a try to keep `classes` more classes of tensors in the host store:
  /// it is, unless fewer are enough.
  bool is_wanted(int classes) const { return enough_ == 0 || classes <= enough_; }
  /// Adds the remedy called `name` if `plan`, to which it leads, keeps to `budget` on every IPU.
  /// The plan keeps `classes` more classes in the host store; 0 says that the remedy is about
  /// something else.
  void try_plan(const std::string& name, const Plan& plan, const MemoryBudget& budget,
                int classes = 0);
  /// Tries to divide the optimizer's state among the replicas.
  void try_shards();
  /// Tries every schedule, if the plan has one.
  void try_schedules();
  /// Tries `plan`, which is for fewer samples per micro-batch than the plan that failed.
  void try_batch(const Plan& plan);

  /// Returns the remedies, in the order in which they were tried.
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  bool add(const std::string& name, const Plan& plan, const MemoryBudget& budget,
           const Schedule* schedule = nullptr);

  const Plan& failed_;
  const std::int64_t replicas_;
  const MemoryBudget& budget_;
  int enough_ = 0;  // Counts the classes in the host store that are enough.
  std::vector<std::string> texts_;
};

/// Looks for the largest micro-batch that fits, by bisection, as memory grows with the samples. If
/// layouts change on the way, the search may miss a larger one, but what it finds does fit.
class BatchSearch {
 public:
  /// Begins below `too_many` samples, which do not fit into a micro-batch.
  explicit BatchSearch(std::int64_t too_many) : too_many_(too_many) {}

  /// Returns the samples to try next, or nothing once the search has ended.
  std::optional<std::int64_t> next() const;
  /// Says whether a micro-batch of the samples that next() has named fits.
  void note(bool fits);

 private:
  std::int64_t fitting_ = 0;
  std::int64_t too_many_;
};

}  // namespace penstock::graph
