// PieceMemory: what a run of pieces would need as a stage, before it is known where the other
// stages begin. Pure; remembers what it has worked out.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "graph/compile/build_plan.hpp"
#include "graph/passes/memory/memory_budget.hpp"
#include "graph/passes/stages/pieces.hpp"

namespace penstock::graph {

class PieceMemory {
 public:
  /// For a cut of `graph` into as many stages as `recomputed`, which says which of them recompute.
  /// All references outlive it.
  PieceMemory(const Graph& graph, const std::vector<Piece>& pieces, std::vector<bool> recomputed,
              const PlanRequest& plan, const MemoryBudget& budget);

  /// Bytes of the pieces [first, last) as stage `stage`, optimizer state included; in doubt more
  /// than they will be: a gradient is taken to go as far back as it may.
  std::int64_t bytes(std::int32_t first, std::int32_t last, std::int32_t stage);

 private:
  struct SentBack {
    std::int64_t bytes = 0;
    std::int32_t distance = 0;  ///< in pieces, to one that it goes to
  };
  struct Needs {
    std::int64_t fixed = 0;
    std::int64_t stash = 0;  ///< of one micro-batch
    std::int32_t output_slots = 0;
    std::vector<SentBack> sent_back = {};
  };

  Needs needs_of(std::int32_t first, std::int32_t last, bool recomputed) const;
  std::vector<SentBack> sent_back(const Partition& partition, const StagePlan& stage,
                                  std::int32_t first) const;
  std::int64_t in_flight(std::int32_t stage) const;

  const Graph& graph_;
  const std::vector<Piece>& pieces_;
  std::vector<bool> recomputed_;  // by stage
  const PlanRequest& plan_;
  const MemoryBudget& budget_;
  std::vector<std::int32_t> piece_of_;  // by node
  std::map<std::tuple<std::int32_t, std::int32_t, bool>, Needs> known_;
};

}  // namespace penstock::graph
