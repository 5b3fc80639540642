#include "engine/option_names.hpp"

namespace penstock {

std::string_view option_name(graph::Option option) {
  using graph::Option;
  switch (option) {
    case Option::batch:
      return "options.batch_size";
    case Option::threads:
      return "options.runtime.threads";
    case Option::threads_per_ipu:
      return "options.topology.threads_per_ipu";
    case Option::ipu_memory:
      return "options.topology.ipu_memory_bytes";
    case Option::schedule:
      return "options.topology.schedule";
    case Option::batch_serial:
      return "options.topology.phased.batch_serial";
    case Option::optimizer_state_on_ipu:
      return "options.topology.phased.on_ipu.optimizer_state";
    case Option::accumulators_on_ipu:
      return "options.topology.phased.on_ipu.accumulators";
    case Option::activations_on_ipu:
      return "options.topology.phased.on_ipu.activations";
    case Option::weights_on_ipu:
      return "options.topology.phased.on_ipu.weights";
    case Option::recompute_stages:
      return "options.training.recompute_stages";
    case Option::recompute:
      return "options.training.recompute";
    case Option::offload_optimizer_state:
      return "options.training.offload.optimizer_state";
    case Option::offload_accumulators:
      return "options.training.offload.accumulators";
    case Option::offload_activations:
      return "options.training.offload.activations";
    case Option::offload_weights:
      return "options.training.offload.weights";
    case Option::least_offloaded_optimizer_state:
      return "options.training.offload.optimizer_state.minimum_bytes";
    case Option::least_offloaded_accumulators:
      return "options.training.offload.accumulators.minimum_bytes";
    case Option::least_offloaded_activations:
      return "options.training.offload.activations.minimum_bytes";
    case Option::least_offloaded_weights:
      return "options.training.offload.weights.minimum_bytes";
    case Option::shard_optimizer_state:
      return "options.training.sharding.optimizer_state";
    case Option::least_sharded_optimizer_state:
      return "options.training.sharding.optimizer_state.minimum_elements";
  }
  return {};  // A damaged plan may have any number as its option.
}

}  // namespace penstock
