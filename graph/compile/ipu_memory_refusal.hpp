// An IpuMemoryRefusal is the error of a model that needs more memory of an IPU than the limit. An
// error for a lack of the host's memory has the same code, but is no IpuMemoryRefusal, because
// another plan would not help.
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
  /// Makes the error's text from `advice`. `names` says how the text names options; by default, the
  /// text names no options.
  explicit IpuMemoryRefusal(
      MemoryAdvice advice, OptionNames names = [](Option) -> std::string_view { return {}; });

  const MemoryAdvice& advice() const noexcept { return *advice_; }

 private:
  // The copies of an error share the advice, so that copying an error never throws.
  std::shared_ptr<const MemoryAdvice> advice_;
};

/// Returns the error that refuses `plan`, which does not fit into the memory. The text names the
/// first IPU whose memory is too small, says how much memory its stages need and for what, and
/// offers `remedies`.
IpuMemoryRefusal refusal_of(const Plan& plan, std::int64_t replicas, const MemoryBudget& budget,
                            const std::vector<Remedy>& remedies);

}  // namespace penstock::graph
