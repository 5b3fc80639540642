// end_pipeline() brings a running pipeline to its end, so that its weights can be read afterwards.
#pragma once

#include "actors/host/end_patience.hpp"
#include "actors/host/host_calls.hpp"
#include "actors/pipeline/pipeline_cast.hpp"

namespace penstock::actors {

/// Ends the actors. A weight update that is under way is let finish first, so that the weights are
/// those of all stages' last one, and no other begins. What is slow is waited for, what is dead is
/// given up: see EndPatience, to which `stall_seconds` goes. In a deterministic system, all that
/// can happen without waiting has happened afterwards. The count of updates is then that of those
/// that the weights have seen.
///
/// Returns whether all actors have ended, so that their memory is the caller's. If not, it may be
/// called again: it waits for the actors then, and no more for an update that it has given up. Once
/// all have ended, it waits for nothing.
bool end_pipeline(ActorSystem& system, HostCalls& host, const PipelineCast& cast,
                  double stall_seconds, IpuTime ipu_time = IpuTime::limited);

}  // namespace penstock::actors
