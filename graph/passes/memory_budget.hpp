// Pass: whether a plan's stages fit into the memory of their IPUs. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "graph/plan.hpp"

namespace penstock::graph {

struct MemoryBudget {
  std::int64_t bytes = 0;  ///< of each IPU; 0: no limit
  /// How many tensors of a parameter's size the optimizer keeps on the IPU; null: none.
  std::function<std::int32_t(const std::string& parameter)> state_tensors = {};
};

/// Bytes of optimizer state that a stage keeps on its IPU.
std::int64_t state_bytes(const Plan& plan, std::size_t stage, const MemoryBudget& budget);

/// What the stages of an IPU need together; they share its scratch memory. Replica r's IPUs are the
/// plan's, shifted by r times the number of stages.
/// @throws Error out_of_memory for an IPU that has less: what its stages need and for what, and
/// what would make them fit, among it `recomputed`: the plan if every stage recomputed that can.
void expect_fit(const Plan& plan, std::int64_t replicas, const MemoryBudget& budget,
                const std::function<Plan()>& recomputed);

/// "900 B", "12.3 kB", "1.5 MB", "2.0 GB".
std::string size_text(std::int64_t bytes);

}  // namespace penstock::graph
