// These functions name the classes of tensors that a plan could keep in the host store besides
// those that it does, and those that it was to keep there in vain. They are pure.
#pragma once

#include <vector>

#include "graph/compile/advice.hpp"
#include "graph/passes/memory/memory_budget.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

struct OffloadChoice {
  Remedy remedy = {};
  OffloadOptions offload = {};
  int classes = 0;  ///< Counts how many more classes there are than before.
};

/// Returns every set of classes that could be turned on besides those of `offload`, small ones
/// first. Of inference, only the weights can be turned on. Of an execution in phases, a class can
/// be turned on if PhasedOptions::on_ipu keeps it on the IPUs.
std::vector<OffloadChoice> offload_choices(const OffloadOptions& offload, bool training,
                                           bool phased = false);

/// Returns a note for each class that is on although every tensor of it is smaller than its
/// minimum. For the optimizer's state there is also a note if no state is kept, unless the class is
/// on because phases turn it on.
std::vector<Note> idle_offload(const Plan& plan, const OffloadOptions& offload,
                               const MemoryBudget& budget);

}  // namespace penstock::graph
