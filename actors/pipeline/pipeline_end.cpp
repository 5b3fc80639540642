#include "actors/pipeline/pipeline_end.hpp"

namespace penstock::actors {

bool end_pipeline(ActorSystem& system, HostCalls& host, const PipelineCast& cast,
                  double stall_seconds, IpuTime ipu_time) {
  if (cast.living->await_end(0)) return true;
  if (system.deterministic()) stall_seconds = 0;
  system.run_pending();
  host.updates.close();
  const bool updated = EndPatience(host.pulse, stall_seconds, ipu_time).until([&](double seconds) {
    return host.updates.await_end(seconds);
  });
  // An update that has not ended by now is given up, because the actors are told to end next.
  if (!updated) host.updates.cut();
  end(cast);
  system.run_pending();
  return EndPatience(host.pulse, stall_seconds, ipu_time).until([&](double seconds) {
    return cast.living->await_end(seconds);
  });
}

bool may_have_uncounted_update(const HostCalls& host, const PipelineCast& cast) {
  if (!host.updates.under_way()) return false;
  return !cast.living->await_end(0) || !have_same_updates(cast.memory);
}

}  // namespace penstock::actors
