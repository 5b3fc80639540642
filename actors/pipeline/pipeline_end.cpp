#include "actors/pipeline/pipeline_end.hpp"

#include <span>

#include "actors/execution/end_patience.hpp"

namespace penstock::actors {
namespace {

/// Counts the update that was under way if all stages have done it, and only the gate, which would
/// have counted it, has not lived to do so.
void count_update(const PipelineSetup& setup, const PipelineCast& cast) {
  if (!setup.host->is_updating()) return;
  const auto updates = updates_of(std::span(cast.memory).first(setup.stages()));
  if (updates && static_cast<std::uint64_t>(*updates) > setup.host->updates())
    setup.host->update_ended();
}

}  // namespace

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
  const bool ended = EndPatience(host, stall_seconds).until([&](double seconds) {
    return cast.living->await_end(seconds);
  });
  if (ended) count_update(setup, cast);
  return ended;
}

}  // namespace penstock::actors
