// IpuMemoryRefusal is the error of a model that needs more memory of an IPU than its limit. A lack
// of the host's memory has the same code, but another plan would not help against that.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "graph/compile/advice.hpp"
#include "graph/passes/memory/memory_budget.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

class IpuMemoryRefusal : public Error {
 public:
  /// Takes advice, whose text names the options as `names` does. By default it names none.
  explicit IpuMemoryRefusal(
      MemoryAdvice advice, OptionNames names = [](Option) -> std::string_view { return {}; });

  const MemoryAdvice& advice() const noexcept { return *advice_; }

 private:
  std::shared_ptr<const MemoryAdvice> advice_;  // Copies share it, so that copying never throws.
};

/// Returns the refusal of a plan that does not fit. It says what the stages of the first IPU need
/// that has less, and for what, and that each of `remedies` would help.
IpuMemoryRefusal refusal_of(const Plan& plan, std::int64_t replicas, const MemoryBudget& budget,
                            const std::vector<Remedy>& remedies);

}  // namespace penstock::graph
