// IpuMemoryRefusal is the error of a model that needs more memory of an IPU than its limit. A lack
// of the host's memory has the same code, but another plan would not help against that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/passes/memory/memory_budget.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

class IpuMemoryRefusal : public Error {
 public:
  explicit IpuMemoryRefusal(const std::string& what) : Error(Errc::out_of_memory, what) {}
};

/// Returns the refusal of a plan that does not fit. It says what the stages of the first IPU need
/// that has less, and for what, and that each of `remedies` would help.
IpuMemoryRefusal refusal_of(const Plan& plan, std::int64_t replicas, const MemoryBudget& budget,
                            const std::vector<std::string>& remedies);

}  // namespace penstock::graph
