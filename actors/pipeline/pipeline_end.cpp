#include "actors/pipeline/pipeline_end.hpp"

#include "actors/execution/end_patience.hpp"

namespace penstock::actors {

bool end_pipeline(ActorSystem& system, const PipelineSetup& setup, const PipelineCast& cast) {
  HostPort& host = *setup.host;
  const double stall_seconds = system.deterministic() ? 0 : setup.stall_seconds;
  system.run_pending();
  host.let_no_update_begin();
  EndPatience(host, stall_seconds).until([&](double seconds) {
    return host.await_update_end(seconds);
  });
  end(cast);
  system.run_pending();
  return EndPatience(host, stall_seconds).until([&](double seconds) {
    return cast.living->await_end(seconds);
  });
}

}  // namespace penstock::actors
