// actor_setup() makes the setup of a plan's actors from a host's Options. It is a pure function.
#pragma once

#include <memory>

#include "actors/execution/pipeline_setup.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// Returns the setup of the actors that run `plan` with `options`.
/// @throws Error invalid_topology if a replica would be on an IPU with a number above highest_ipu.
actors::PipelineSetup actor_setup(const Options& options, std::shared_ptr<const graph::Plan> plan);

}  // namespace penstock
