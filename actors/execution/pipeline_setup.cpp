#include "actors/execution/pipeline_setup.hpp"

#include <string>

namespace penstock::actors {

double gradient_parts(const PipelineSetup& setup) {
  if (setup.reduction != Reduction::mean) return 1;
  const auto replicas = static_cast<double>(setup.replicas);
  // A running mean is of the window's micro-batches already.
  if (setup.reduction_strategy == ReductionStrategy::running) return replicas;
  return replicas * static_cast<double>(setup.gradient_accumulation);
}

bool divided(const PipelineSetup& setup, const graph::ParameterRule& rule, std::int64_t elements) {
  return setup.sharding.optimizer_state.divides(elements, setup.replicas) &&
         !rule.rule->state(rule.hyper).empty();
}

std::string stage_name(const PipelineSetup& setup, std::int64_t replica, std::size_t stage) {
  return "stage " + std::to_string(stage) + " (replica " + std::to_string(replica) + ", IPU " +
         std::to_string(setup.ipu(replica, stage)) + ")";
}

}  // namespace penstock::actors
