#include "actors/pipeline/pipeline_end.hpp"

namespace penstock::actors {

bool end_pipeline(ActorSystem& system, const PipelineSetup& setup, const PipelineCast& cast,
                  IpuTime ipu_time) {
  if (cast.living->await_end(0)) return true;
  HostPort& host = *setup.host;
  const double stall_seconds = system.deterministic() ? 0 : setup.stall_seconds;
  system.run_pending();
  host.let_no_update_begin();
  const bool updated = EndPatience(host, stall_seconds, ipu_time).until([&](double seconds) {
    return host.await_update_end(seconds);
  });
  if (!updated) host.give_up_update();  // its actors are told to end, so it may never do so
  end(cast);
  system.run_pending();
  return EndPatience(host, stall_seconds, ipu_time).until([&](double seconds) {
    return cast.living->await_end(seconds);
  });
}

}  // namespace penstock::actors
