// Offload choices: the classes of tensors that a plan could keep in the host store besides those
// that it does, and those that it was to keep there in vain. Pure.
#pragma once

#include <string>
#include <vector>

#include "graph/passes/memory/memory_budget.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

struct OffloadChoice {
  std::string name = {};  ///< "the weights in the host store (options.training.offload.weights)"
  OffloadOptions offload = {};
  int classes = 0;  ///< more than before
};

/// Every set of classes that could be turned on besides those of `offload`, small ones first. In
/// inference there are only weights. In phases it is PhasedOptions::on_ipu that keeps them on.
std::vector<OffloadChoice> offload_choices(const OffloadOptions& offload, bool training,
                                           bool phased = false);

/// A note for each class that is on and of which every tensor is smaller than its minimum; for the
/// optimizer's state where it keeps none, too, unless it is on because phases turn it on.
std::vector<std::string> idle_offload(const Plan& plan, const OffloadOptions& offload,
                                      const MemoryBudget& budget);

}  // namespace penstock::graph
