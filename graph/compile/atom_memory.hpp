// An AtomMemory says how much memory consecutive atoms would need as a stage, before it is known
// where the other stages begin. It is pure, and remembers what it has computed.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "graph/compile/build_plan.hpp"
#include "graph/passes/memory/memory_budget.hpp"
#include "graph/passes/stages/atoms.hpp"

namespace penstock::graph {

class AtomMemory {
 public:
  /// Makes an AtomMemory for a cut of `graph` into stages. `recomputed` says of each stage whether
  /// it recomputes. All references outlive this object.
  AtomMemory(const Graph& graph, const std::vector<Atom>& atoms, std::vector<bool> recomputed,
             const PlanRequest& plan, const MemoryBudget& budget);

  /// Returns how many bytes the atoms [first, last) need as stage number `stage`, optimizer state
  /// included. The number may be more than the stage will need: each gradient that the stage sends
  /// back is assumed to go to the earliest stage that may receive it.
  std::int64_t bytes(std::int32_t first, std::int32_t last, std::int32_t stage);

 private:
  struct SentBack {
    std::int64_t bytes = 0;
    /// This many atoms lie between an atom that receives the gradient and the first atom of the
    /// stage, the former included.
    std::int32_t distance = 0;
  };
  struct Needs {
    std::int64_t fixed = 0;
    std::int64_t micro_batch = 0;  ///< One micro-batch in flight takes this many bytes.
    std::int64_t unread = 0;       ///< Outputs that the host has not read yet take this many bytes.
    std::vector<SentBack> sent_back = {};
  };

  Needs needs_of(std::int32_t first, std::int32_t last, bool recomputed) const;
  std::vector<SentBack> sent_back(const Partition& partition, const StagePlan& stage,
                                  std::int32_t first) const;
  std::int64_t in_flight(std::int32_t stage) const;

  const Graph& graph_;
  const std::vector<Atom>& atoms_;
  std::vector<bool> recomputed_;  // This says of each stage whether it recomputes.
  const PlanRequest& plan_;
  const MemoryBudget& budget_;
  std::vector<std::int32_t> atom_of_;  // This is the number of the atom of each node.
  std::map<std::tuple<std::int32_t, std::int32_t, bool>, Needs> known_;
};

}  // namespace penstock::graph
