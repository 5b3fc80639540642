// A remedy is a change of options after which a plan fits into the memory of the IPUs. Remedies are
// found by trying changes on a plan that does not fit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/compile/advice.hpp"
#include "graph/passes/memory/memory_budget.hpp"
#include "graph/passes/memory/recompute.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// Returns the remedy of recomputing every stage. `request` is the present setting, which
/// recomputes no stage or only some.
Remedy recomputation(const RecomputeRequest& request);
/// Returns the remedy of dividing the optimizer's state among the replicas.
Remedy division_of_state();

class Remedies {
 public:
  /// Makes a list of remedies for the plan `failed`, which needs more than `budget`. Both outlive
  /// this object.
  Remedies(const Plan& failed, std::int64_t replicas, const MemoryBudget& budget)
      : failed_(failed), replicas_(replicas), budget_(budget) {}

  /// Returns whether it is worth trying to keep `classes` more classes of tensors in the host
  /// store. It is not worth it if fewer classes are known to be enough.
  bool is_wanted(int classes) const { return enough_ == 0 || classes <= enough_; }
  /// Adds `remedy` if `plan`, which is the plan after this change, fits into the memory of `budget`
  /// on every IPU. `plan` keeps `classes` more classes in the host store; 0 says that the remedy
  /// changes something else.
  void try_plan(const Remedy& remedy, const Plan& plan, const MemoryBudget& budget,
                int classes = 0);
  /// Tries to divide the optimizer's state among the replicas.
  void try_shards();
  /// Tries every schedule, unless the plan is one of phased execution.
  void try_schedules();
  /// Tries `plan`, which is for fewer samples per micro-batch than the plan that failed.
  void try_batch(const Plan& plan);

  /// Returns the remedies, in the order in which they were tried.
  const std::vector<Remedy>& found() const { return found_; }

 private:
  bool add(Remedy remedy, const Plan& plan, const MemoryBudget& budget,
           const Schedule* schedule = nullptr);

  const Plan& failed_;
  const std::int64_t replicas_;
  const MemoryBudget& budget_;
  // It is known to be enough that the host store keeps this many more classes; 0 says that this is
  // not known.
  int enough_ = 0;
  std::vector<Remedy> found_;
};

/// A BatchSearch looks for the largest micro-batch that fits, by bisection, because memory mostly
/// grows with the number of samples. Where layouts change with that number, the search may miss a
/// larger micro-batch, but the micro-batch that it finds does fit.
class BatchSearch {
 public:
  /// Searches below `too_many` samples per micro-batch, which do not fit.
  explicit BatchSearch(std::int64_t too_many) : too_many_(too_many) {}

  /// Returns the number of samples to try next, or nothing once the search has ended.
  std::optional<std::int64_t> next() const;
  /// Tells the search whether a micro-batch with the number of samples that next() returns fits.
  void note(bool fits);

 private:
  std::int64_t fitting_ = 0;
  std::int64_t too_many_;
};

}  // namespace penstock::graph
