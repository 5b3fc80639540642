#include "actors/execution/pipeline_setup.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace penstock::actors {
namespace {

/// Returns how many stages of all replicas together have to be done before an update is counted.
std::size_t counted_stages(const PipelineSetup& setup) {
  std::size_t stages = 0;
  for (std::size_t stage = 0; stage < setup.stages(); ++stage)
    if (setup.is_host() || setup.is_here(stage)) ++stages;
  return stages * static_cast<std::size_t>(setup.replicas);
}

}  // namespace

std::shared_ptr<const PipelineSetup> completed(PipelineSetup setup, const UpdateRules& rules) {
  setup.update_count = std::make_shared<UpdateCount>(counted_stages(setup), setup.updates);
  if (setup.profile) setup.host_trace = std::make_shared<HostTrace>(setup.trace_events);
  setup.constants = std::make_shared<CurrentConstants>(constants_of(rules));
  return std::make_shared<const PipelineSetup>(std::move(setup));
}

double gradient_parts(const PipelineSetup& setup) {
  if (setup.reduction != Reduction::mean) return 1;
  const auto replicas = static_cast<double>(setup.replicas);
  // The sum of a running mean has been divided by the number of micro-batches in the window
  // already.
  if (setup.reduction_strategy == ReductionStrategy::running) return replicas;
  return replicas * static_cast<double>(setup.gradient_accumulation);
}

std::int64_t events_of_stage(const PipelineSetup& setup) {
  const auto stages = static_cast<std::int64_t>(setup.stages()) * setup.replicas;
  return std::max<std::int64_t>(setup.trace_events / stages, 1);
}

bool is_sharded(const PipelineSetup& setup, const graph::ParameterRule& rule,
                std::int64_t elements) {
  return setup.sharding.optimizer_state.divides(elements, setup.replicas) &&
         !rule.rule->state(rule.hyper).empty();
}

std::string stage_name(const PipelineSetup& setup, std::int64_t replica, std::size_t stage) {
  return "stage " + std::to_string(stage) + " (replica " + std::to_string(replica) + ", IPU " +
         std::to_string(setup.ipu(replica, stage)) + ")";
}

}  // namespace penstock::actors
