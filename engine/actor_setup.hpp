// This leads from a host's Options to what the actors of a plan are told. It is pure.
#pragma once

#include <memory>

#include "actors/execution/pipeline_setup.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// @throws Error invalid_topology if replicas would be on IPUs of higher numbers than there may be.
actors::PipelineSetup actor_setup(const Options& options, std::shared_ptr<const graph::Plan> plan);

}  // namespace penstock
