// A PlanChoice is what may differ between two plans of the same stages. It is plain data.
#pragma once

#include <cstdint>

#include "graph/compile/build_plan.hpp"
#include "graph/compile/compile_request.hpp"
#include "graph/passes/memory/recompute.hpp"
#include "graph/plan/phases/phases.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

struct PlanChoice {
  PlanRequest plan = {};
  RecomputeRequest recompute = {};
  /// If this is true, what depends on weights alone is computed before the forward.
  bool prepare = false;
};

/// Returns which classes of tensors `request` asks the host store to keep.
OffloadOptions offload_of(const CompileRequest& request);

/// Returns the choice that `request` asks for. It has the phases `phases`, and `threads_per_ipu`
/// threads share the work of each kernel.
PlanChoice first_choice(const CompileRequest& request, const Phases& phases,
                        std::int32_t threads_per_ipu);

}  // namespace penstock::graph
