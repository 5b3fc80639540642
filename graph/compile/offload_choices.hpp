// offload_choices() names the classes of tensors that a plan could keep in the host store besides
// those that it does. It is pure.
#pragma once

#include <vector>

#include "graph/compile/advice.hpp"
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

}  // namespace penstock::graph
