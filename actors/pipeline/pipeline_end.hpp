// end_pipeline() brings a running pipeline to its end, so that its weights can be read afterwards.
#pragma once

#include "actors/host/end_patience.hpp"
#include "actors/host/host_calls.hpp"
#include "actors/pipeline/pipeline_cast.hpp"

namespace penstock::actors {

/// Ends the actors. A weight update that is under way is finished first, so that the weights of all
/// stages are those of the same update; no other update begins. EndPatience says, from
/// `stall_seconds`, how long the function waits for a slow pipeline before it takes the pipeline
/// for dead and gives it up. In a deterministic system, all mail is handled, and nothing is waited
/// for. The count of updates is final afterwards: it says how many updates the weights have had.
///
/// Returns whether all actors have ended, so that their memory is the caller's. If the function
/// returns false, it may be called again; it then waits for the actors, but not for an update that
/// it has given up. Once all actors have ended, a call does not wait.
bool end_pipeline(ActorSystem& system, HostCalls& host, const PipelineCast& cast,
                  double stall_seconds, IpuTime ipu_time = IpuTime::limited);

/// Returns whether an update that the pipeline does not count may have changed weights or state, or
/// may still change them. The result is false if the actors have ended and no stage had begun to
/// change its weights or state.
bool may_have_uncounted_update(const HostCalls& host, const PipelineCast& cast);

}  // namespace penstock::actors
