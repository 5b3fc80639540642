// offload_choices() says which classes of tensors a plan could keep in the host store besides those
// that it keeps there already. It is pure.
#pragma once

#include <vector>

#include "graph/compile/advice.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

struct OffloadChoice {
  Remedy remedy = {};
  OffloadOptions offload = {};
  int classes = 0;  ///< The host store keeps this many classes in addition.
};

/// Returns a choice for every set of classes that the host store could keep in addition to those of
/// `offload`, small sets first. In inference, the weights are the only class. In phased execution
/// (`phased`), the host store keeps a class unless PhasedOptions::on_ipu keeps it on the IPUs, so
/// that the remedy is to turn that option off.
std::vector<OffloadChoice> offload_choices(const OffloadOptions& offload, bool training,
                                           bool phased = false);

}  // namespace penstock::graph
