// end_pipeline: how a running pipeline comes to its end, so that its weights can be read
// afterwards.
#pragma once

#include "actors/execution/end_patience.hpp"
#include "actors/execution/pipeline_setup.hpp"
#include "actors/pipeline/pipeline_cast.hpp"

namespace penstock::actors {

/// Ends the actors. A weight update that is under way is let finish first, so that the weights are
/// those of all stages' last one, and no other begins. What is slow is waited for, what is dead is
/// given up: see EndPatience. In a deterministic system, all that can happen without waiting has
/// happened afterwards. The host's updates are then those that the weights have seen.
///
/// Returns whether all actors have ended, so that their memory is the caller's. If not, it may be
/// called again: it waits for the actors then, and no more for an update that it has given up. Once
/// all have ended, it waits for nothing.
bool end_pipeline(ActorSystem& system, const PipelineSetup& setup, const PipelineCast& cast,
                  IpuTime ipu_time = IpuTime::limited);

}  // namespace penstock::actors
