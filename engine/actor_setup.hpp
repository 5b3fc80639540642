// actor_setup() makes of a host's Options what the actors of a plan are told. It is a pure
// function.
#pragma once

#include <memory>

#include "actors/execution/pipeline_setup.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// @throws Error invalid_topology if replicas would be on IPUs with too high numbers.
actors::PipelineSetup actor_setup(const Options& options, std::shared_ptr<const graph::Plan> plan);

}  // namespace penstock
